import { t } from '../common/editor/catalogue';
import { explainFailure } from '../common/editor/devices';
import { postRoute } from '../common/editor/routes';

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
