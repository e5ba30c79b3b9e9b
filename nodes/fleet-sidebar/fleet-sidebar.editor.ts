import { t } from '../common/editor/texts';
import { Panel } from './panel.editor';

/** Notifies a panel of its visibility: in the selected tab, in an open sidebar, on a visible page. */
function watchVisibility(panel: Panel): void {
  const element = panel.element[0];
  if (!element) return;
  let isShown = false;
  const judge = (): void => {
    if (isShown && !document.hidden) void panel.open();
    else panel.close();
  };
  new IntersectionObserver((entries) => {
    isShown = entries.at(-1)?.isIntersecting ?? false;
    judge();
  }).observe(element);
  document.addEventListener('visibilitychange', judge);
}

RED.plugins.registerPlugin('device-cloud-fleet-sidebar', {
  onadd() {
    const panel = new Panel();
    RED.sidebar.addTab({
      id: 'device-cloud-fleet',
      label: t('palette.label.device_cloud'),
      name: t('palette.label.device_cloud'),
      iconClass: 'fa fa-cloud',
      content: panel.element,
      toolbar: $('<div>').append(panel.switches),
    });
    const refresh = (): void => void panel.refresh();
    RED.events.on('deploy', refresh);
    // By another user, in another browser.
    RED.comms.subscribe('notification/runtime-deploy', refresh);
    // Node-RED is back, or a user has logged in again.
    RED.comms.on('connect', refresh);
    watchVisibility(panel);
  },
});
