import { closeDialogs } from '../tooling/editor/dialog';
import type { Editor } from './browser';

/**
 * Removes what a `describe` leaves in a page that the next one uses, as the editor does when somebody opens another
 * project. A page without a version of the flows shows no notice when others deploy.
 */
export async function emptyPage(editor: Editor): Promise<void> {
  await closeDialogs(editor);
  await editor.page.emulateMedia({ colorScheme: null });
  await editor.page.fill('#red-ui-palette-search input', '');
  await editor.run(`(() => {
    $('.device-cloud-fleet-views [data-view=devices]').trigger('click');
    RED.sidebar.show('info');
    // Hidden, since the editor removes them itself later.
    $('.red-ui-notification').hide();
    RED.nodes.clear();
    RED.history.clear();
    RED.nodes.version(null);
  })()`);
}

/**
 * Loads what is deployed into an empty page, as the editor does when a project is opened. The WebSocket keeps the order:
 * once the deploy has been announced, all messages come from nodes that are loaded. Statuses from before are not shown.
 */
export async function loadFlows({ run, problems }: Editor): Promise<void> {
  await run(`(async () => {
    const { flows, rev } = await $.ajax('flows', { headers: { Accept: 'application/json' }, cache: false });
    const topic = 'notification/runtime-deploy';
    await new Promise((resolve) => {
      const onDeploy = (_, { revision }) => {
        if (revision !== rev) return;
        RED.comms.unsubscribe(topic, onDeploy);
        resolve();
      };
      RED.comms.subscribe(topic, onDeploy);
    });
    RED.nodes.version(rev);
    RED.nodes.import(flows);
    RED.nodes.dirty(false);
    RED.view.redraw(true);
    RED.workspaces.show(RED.nodes.getWorkspaceOrder()[0]);
    RED.events.emit('flows:loaded');
  })()`);
  // Node-RED's debug tab logs an error for a message of a node that is not there.
  const others = problems.filter((text) => !/handleDebugMessage|RED\.comms\.subscribe/.test(text));
  problems.splice(0, Infinity, ...others);
}
