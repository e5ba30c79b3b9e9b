import { t } from '../common/editor/catalogue';
import { readProcessesText } from './processes-text';

/**
 * Puts the statuses of listeners whose devices are shared into the reader's language. Node-RED looks up a status only
 * as a whole and only if it begins with a letter. It gets the same object after this, since its own subscription
 * is made once the flows are loaded.
 */
export function translateStatuses(type: string): void {
  RED.comms.subscribe('status/#', (topic, data) => {
    const node = RED.nodes.node(topic.slice('status/'.length));
    const status = data as { text?: unknown };
    const found = node?.type === type ? readProcessesText(status.text) : undefined;
    if (!found) return;
    status.text = t(found.number === 1 ? 'status.processes-one' : 'status.processes-several', {
      ...found,
    });
  });
}
