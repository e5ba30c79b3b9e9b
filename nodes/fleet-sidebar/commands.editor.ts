import { explainFailure } from '../common/editor/devices';
import { fieldValue } from '../common/editor/form';
import { postRoute } from '../common/editor/routes';
import { t } from '../common/editor/texts';
import type { LISTEN_TYPE } from '../listen/listen.config';

/** The application and the device that the actions are for. */
export interface Target {
  app: string;
  chipid: string;
  name: string;
}

/** Says how something ended, where the editor says such things. */
export function notify(text: string, type: 'success' | 'error', detail = ''): void {
  // As text, always: it comes from a server that may be anyone's.
  const content = $('<p>').text(text);
  if (detail !== '')
    $('<small>', { class: 'device-cloud-fleet-reason' }).text(detail).appendTo(content);
  RED.notify(content, { type, timeout: type === 'error' ? 8000 : 3000 });
}

/** What the service has answered to a refresh. Its document shows no status but `online`. */
function refreshed(device: string, status: unknown): string {
  if (status === 'online' || status === 'offline') return t(`done.refresh-${status}`, { device });
  return t('done.refresh-other', { device, status: String(status) });
}

/** Calls a device. @param name `refresh` or `push` */
export async function command(target: Target, name: string, body: object): Promise<void> {
  const { app, chipid } = target;
  const device = target.name;
  try {
    const route = `apps/${encodeURIComponent(app)}/devices/${encodeURIComponent(chipid)}/${name}`;
    const { status } = (await postRoute(route, body)) as { status?: unknown };
    notify(name === 'refresh' ? refreshed(device, status) : t('done.push', { device }), 'success');
  } catch (failure) {
    const { reason, detail } = explainFailure(failure, {
      permission: 'device-cloud.write',
      forbidden: t('forbidden-write'),
    });
    notify(t(`failed.${name}`, { device, reason }), 'error', detail);
  }
}

const FORMATS = ['MSG', 'HEX', 'AT', 'LUA', 'B64'];

/** Asks what to push to a device, and pushes it. */
export function askPush(target: Target): void {
  const message = $('<input>', { type: 'text', id: 'device-cloud-fleet-message' });
  const format = $('<select>', { id: 'device-cloud-fleet-format' });
  for (const name of FORMATS)
    $('<option>', { value: name })
      .text(t(`common.format.${name}`))
      .appendTo(format);
  const field = (label: string, input: JQuery): JQuery[] => [
    $('<label>', { for: input.attr('id') }).text(t(label)),
    input,
  ];
  const form = $('<form>', { class: 'device-cloud-fleet-push' }).append(
    // As text, always: the name comes from a server that may be anyone's.
    $('<p>').text(t('push.ask', { device: target.name })),
    ...field('push.message', message),
    ...field('push.format', format),
  );
  const push = (): void => {
    notification.close();
    void command(target, 'push', { message: fieldValue(message), format: fieldValue(format) });
  };
  const notification = RED.notify(form, {
    ...{ modal: true, fixed: true, type: 'warning' },
    buttons: [
      { text: t('push.cancel'), click: () => notification.close() },
      { text: t('push.push'), class: 'primary', click: push },
    ],
  });
  form.on('submit', (event) => {
    event.preventDefault();
    push();
  });
  form.on('keydown', ({ key }) => {
    if (key === 'Escape') notification.close();
  });
  setTimeout(() => message.trigger('focus'));
}

const LISTEN = 'device-cloud-listen' satisfies typeof LISTEN_TYPE;

/** Puts a listener for a device at the cursor, as the palette would, but filled in. */
export function insertListener(app: string, chipid: string): void {
  const { defaults } = RED.nodes.getType(LISTEN);
  const usual = Object.entries(defaults).map(([property, { value }]) => [property, value] as const);
  const filled = { ...Object.fromEntries(usual), app, devices: 'list', chipids: [chipid] };
  const place = { x: 0, y: 0, z: '', wires: [[]] };
  RED.view.importNodes([{ id: 'listener', type: LISTEN, ...filled, ...place }], {
    generateIds: true,
  });
}
