import { t } from '../common/editor/catalogue';
import { explainFailure } from '../common/editor/devices';
import { insertListener } from './listener.editor';
import { askPush } from './push.editor';

/** The application and the device that the actions are for. */
export interface Target {
  app: string;
  chipid: string;
  name: string;
}

export interface Actions {
  target: () => Target | undefined;
}

/** Says how something ended, where the editor says such things. */
export function tell(text: string, type: 'success' | 'error', detail = ''): void {
  // As text, always: it comes from a server that may be anyone's.
  const content = $('<p>').text(text);
  if (detail !== '')
    $('<small>', { class: 'device-cloud-fleet-reason' }).text(detail).appendTo(content);
  RED.notify(content, { type, timeout: type === 'error' ? 8000 : 3000 });
}

/** Calls a device. @param name `refresh` or `push` */
export async function command(target: Target, name: string, body: object): Promise<void> {
  const { app, chipid } = target;
  const device = target.name;
  try {
    await $.ajax({
      // Neither `/` nor `.` comes first, so that Node-RED adds its root and the bearer token.
      url: `device-cloud/apps/${encodeURIComponent(app)}/devices/${encodeURIComponent(chipid)}/${name}`,
      method: 'POST',
      contentType: 'application/json',
      data: JSON.stringify(body),
    });
    tell(t(`done.${name}`, { device }), 'success');
  } catch (failure) {
    const { reason, detail } = explainFailure(failure, t('forbidden-write'));
    tell(t(`failed.${name}`, { device, reason }), 'error', detail);
  }
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
