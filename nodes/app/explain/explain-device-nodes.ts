import type { Chipid, Level, Pin, PushMessage } from '../../../src/index';
import { invalidInput, parseChipid, parseCodes, parseFormat, parsePin } from '../../../src/input';
import { CHIPID_INPUT } from '../../common/inputs';
import { numberOf } from '../../common/values';
import { manyNote, pulseNote, requestNote } from './explain-notes';
import type { Explained, ExplainedNode } from './explained-node';

const MESSAGE_INPUT = { message: ['payload', 'msg'] } as const;
const PIN_INPUT = { pin: ['pin', 'msg'] } as const;

/** The device of a message, or the first of several if the node accepts them. */
function deviceOf({ config, inputs, note }: Explained): Chipid {
  const given = inputs['chipid'];
  if (!Array.isArray(given) || config['many'] !== true) return given as Chipid;
  const devices = new Set(given.map(parseChipid));
  const [first] = devices;
  if (first === undefined)
    throw invalidInput('The array of chip numbers is empty: nothing is sent.');
  if (devices.size > 1) note(manyNote(devices.size));
  return first;
}

/** A call that is given the device alone. */
export const deviceCall = (call: 'refresh' | 'reboot'): ExplainedNode => ({
  api: 'open',
  inputs: () => CHIPID_INPUT,
  explain: (node) => node.client.explain(call, deviceOf(node)),
});

const formatOf = ({ config, msg }: Explained) =>
  parseFormat(config['format'] === 'msg' ? msg['format'] : (config['format'] ?? 'MSG'));

/** Endpoints 3 and 4, and section 6. */
export const push: ExplainedNode = {
  api: 'open',
  inputs: ({ target }) =>
    target === 'app' ? MESSAGE_INPUT : { ...CHIPID_INPUT, ...MESSAGE_INPUT },
  explain(node) {
    const { client, config, inputs } = node;
    const message = inputs['message'] as PushMessage;
    const options = { format: formatOf(node) };
    if (config['target'] === 'app') return client.explain('pushToApp', message, options);
    const call = config['transport'] === 'channel' ? 'pushOverChannel' : 'push';
    return client.explain(call, deviceOf(node), message, options);
  },
};

export const request: ExplainedNode = {
  api: 'open',
  inputs: () => ({ ...CHIPID_INPUT, ...MESSAGE_INPUT }),
  explain(node) {
    node.note(requestNote());
    const message = node.inputs['message'] as PushMessage;
    return node.client.explain('push', deviceOf(node), message, { format: formatOf(node) });
  },
};

/** The usual duration of a pulse in milliseconds. */
const PULSE = 500;

/** Endpoints 9 and 10. */
export const gpio: ExplainedNode = {
  api: 'open',
  inputs({ operation, pin }) {
    if (operation !== 'read') return { ...CHIPID_INPUT, ...PIN_INPUT, level: ['payload', 'msg'] };
    return pin === '' ? CHIPID_INPUT : { ...CHIPID_INPUT, ...PIN_INPUT };
  },
  explain(node) {
    const { client, config, inputs, note } = node;
    const device = deviceOf(node);
    if (config['operation'] === 'read') {
      if (config['pin'] !== '') parsePin(inputs['pin']);
      if (config['codes']) parseCodes(config['codes']);
      return client.explain('gpioStatus', device);
    }
    const [pin, level] = [inputs['pin'] as Pin, inputs['level'] as Level];
    const set = client.explain('setGpioEdge', device, pin, level);
    if (config['operation'] === 'pulse') {
      const opposite = set.path.endsWith('/1/') ? 'low' : 'high';
      const { path } = client.explain('setGpioEdge', device, pin, opposite);
      note(pulseNote(numberOf(config['duration'] as number | string | undefined, PULSE), path));
    }
    return set;
  },
};

/** Endpoint 8. */
export const rtStatus: ExplainedNode = {
  api: 'open',
  inputs: () => ({ ...CHIPID_INPUT, key: ['key', 'msg'] }),
  explain: (node) => node.client.explain('rtStatus', deviceOf(node), node.inputs['key'] as string),
};
