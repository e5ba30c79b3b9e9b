import { t } from '../common/editor/catalogue';
import { command, type Target } from './command.editor';
import { insertListener } from './listener.editor';
import { askPush } from './push.editor';

export interface Actions {
  target: () => Target | undefined;
}

const mayCommand = (): boolean => RED.user.hasPermission('device-cloud.write');
const mayEdit = (): boolean => RED.user.hasPermission('flows.write') && !RED.workspaces.isLocked();

interface Action {
  name: string;
  icon: string;
  may: () => boolean;
  run: (target: Target, button: JQuery) => void | Promise<void>;
}

const ACTIONS: readonly Action[] = [
  { name: 'find', icon: 'search', may: () => true, run: ({ chipid }) => RED.search.show(chipid) },
  {
    ...{ name: 'copy', icon: 'clipboard', may: () => true },
    run: ({ chipid }, button) =>
      void RED.clipboard.copyText(chipid, button, 'clipboard.copyMessageValue'),
  },
  {
    name: 'listen',
    icon: 'plus',
    may: mayEdit,
    run: ({ app, chipid }) => insertListener(app, chipid),
  },
  {
    ...{ name: 'refresh', icon: 'refresh', may: mayCommand },
    run: (target) => command(target, 'refresh', {}),
  },
  { name: 'push', icon: 'paper-plane', may: mayCommand, run: askPush },
];

/** The buttons for the device that is selected. Who may not do something sees why. */
export function actionButtons({ target }: Actions): JQuery {
  const bar = $('<div>', { class: 'device-cloud-fleet-actions', role: 'group' });
  bar.attr('aria-label', t('actions'));
  for (const { name, icon, may, run } of ACTIONS) {
    const button = $('<button>', { type: 'button', class: 'red-ui-button red-ui-button-small' });
    button.attr('data-action', name).append($('<i>', { class: `fa fa-${icon}` }), ' ');
    button.append($('<span>').text(t(`action.${name}`))).appendTo(bar);
    const allow = (): void => {
      const allowed = may();
      button
        .prop('disabled', !allowed)
        .attr('title', t(allowed ? `hint.${name}` : 'forbidden-write'));
    };
    allow();
    // A flow that is chosen later may be locked.
    RED.events.on('workspace:change', allow);
    button.on('click', () => {
      const chosen = target();
      if (!chosen) return;
      void run(chosen, button);
    });
  }
  return bar;
}
