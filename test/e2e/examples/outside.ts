import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Database } from 'node-sqlite3-wasm';
import { atPort, startBroker, type Broker } from '../../tooling/servers/broker';
import { linesTo, startLineServer, type LineServer } from '../../tooling/servers/lines';
import { until } from '../../tooling/until';
import { ONE, THREE, TWO } from '../harness/devices';
import type { FlowNode } from '../../tooling/node-red/nodes';
import { named, ofType } from './files';
import { listening, plays } from './scene';
import type { Scene } from './scene';
import type { Stage } from './stage';

const levelOf = (scene: Scene, chipid: string): unknown => scene.simulator.device(chipid).levels[5];

/** Each upload comes once more, as after a crash: from the history, which knows only the second in which it came. */
function comesTwice(nodes: FlowNode[]): FlowNode[] {
  const [listener] = ofType(nodes, 'device-cloud-listen');
  const wires = listener!.wires as string[][];
  const func =
    'msg.timestamp = Math.floor(msg.timestamp / 1000) * 1000; msg.replayed = true; return msg;';
  const again = {
    id: 'again',
    type: 'function',
    z: listener!.z,
    name: 'Again',
    func,
    x: 0,
    y: 0,
    wires,
  };
  listener!.wires = [[...wires[0]!, again.id]];
  return [...nodes, again];
}

interface Description {
  device: { name: string; identifiers: string[] };
  origin: { name: string };
  components: Record<string, Record<string, unknown>>;
}

/**
 * What Home Assistant requires of the description of a device (`DEVICE_DISCOVERY_SCHEMA`), and of its sensors and switches.
 * At the top it refuses properties that it does not know.
 */
function homeAssistantReads(topic: string, text: string): Description {
  assert.match(topic, /^homeassistant\/device\/[a-zA-Z0-9_-]+\/config$/);
  const description = JSON.parse(text) as Description;
  const { device, origin, components } = description;
  assert.deepEqual(Object.keys(description).sort(), [
    ...['availability_topic', 'components', 'device', 'origin'],
  ]);
  assert.ok(device.identifiers.length > 0);
  assert.equal(typeof origin.name, 'string');
  const required = {
    sensor: ['state_topic', 'value_template', 'unit_of_measurement', 'state_class'],
    switch: ['state_topic', 'command_topic', 'payload_on', 'payload_off'],
  };
  const ids = Object.values(components).map(({ platform, ...component }) => {
    assert.ok(platform === 'sensor' || platform === 'switch', String(platform));
    const optional = platform === 'sensor' ? ['device_class'] : [];
    for (const key of ['unique_id', 'name', ...required[platform]])
      assert.equal(typeof component[key], 'string', key);
    const allowed = ['unique_id', 'name', ...required[platform], ...optional];
    assert.deepEqual(
      Object.keys(component).filter((key) => !allowed.includes(key)),
      [],
    );
    return component['unique_id'];
  });
  assert.equal(new Set(ids).size, ids.length, 'ids are unique');
  return description;
}

/** Examples that write to a database or to a broker, which tests of flows replace. */
export function outside(stage: Stage): void {
  const file = (): string => join(stage.folder, 'device-cloud-uploads.sqlite');
  plays(
    stage,
    'Write uploads to SQLite',
    'writes a row for each upload, though each comes twice',
    async (scene) => {
      await listening(scene, 3);
      scene.simulator.upload(ONE, { temperature: 21.5 });
      scene.simulator.upload(THREE, `'); DROP TABLE live; --`);
      await scene.waitShown('Stored', 4);
      const database = new Database(file(), { fileMustExist: true, readOnly: true });
      try {
        const rows = database.all('SELECT chipid, name, body FROM uploads ORDER BY chipid');
        assert.deepEqual(
          rows.map((row) => ({ ...row })),
          [
            { chipid: ONE, name: 'Greenhouse', body: '{"temperature":21.5}' },
            { chipid: THREE, name: null, body: `'); DROP TABLE live; --` },
          ],
        );
      } finally {
        database.close();
      }
    },
    {
      async alter(nodes) {
        // As imported, the example has written to it before.
        await rm(file(), { force: true });
        return comesTwice(nodes);
      },
    },
  );

  let server: LineServer;
  plays(
    stage,
    'Write uploads to InfluxDB',
    'posts the numbers of several uploads in one request',
    async (scene) => {
      try {
        await listening(scene, 3);
        scene.simulator.upload(TWO, { temperature: 21.5, door: true, note: 'text', 'a b': 1 });
        scene.simulator.upload(THREE, { temperature: -3 });
        scene.simulator.upload(THREE, 'no number');
        assert.deepEqual(await scene.waitShown('Answered'), [204]);
        const [{ body = '' } = {}] = server.posted;
        const lines = body.split('\n').map((line) => line.replace(/ \d{19}$/, ' AT'));
        // Devices have no order among each other.
        assert.deepEqual(lines.sort(), [
          `upload,chipid=${TWO},name=Cold\\ store temperature=21.5,door=true,a\\ b=1 AT`,
          `upload,chipid=${THREE} temperature=-3 AT`,
        ]);
        assert.match(server.posted[0]?.authorization ?? '', /^Token/);
      } finally {
        await stage.red.deploy([]);
        await server.close();
      }
    },
    {
      async alter(nodes) {
        server = await startLineServer();
        named(nodes, 'Lines of 5 s')['timeout'] = '1';
        return linesTo(nodes, server.url);
      },
    },
  );

  let broker: Broker;
  plays(
    stage,
    'Show devices in Home Assistant',
    'describes a device as Home Assistant requires, publishes its uploads, reads its pin back, and removes it',
    async (scene) => {
      const at = (topic: string): string[] =>
        broker.published.filter((each) => each.topic === topic).map(({ text }) => text);
      const config = `homeassistant/device/device-cloud-${ONE}/config`;
      try {
        // What is published before there is a connection is dropped.
        await scene.waitStatus('Publish it', 'node-red:common.status.connected');
        await listening(scene, 3);
        const state = `device-cloud/${ONE}/state`;
        for (const temperature of [21.5, 22]) scene.simulator.upload(ONE, { temperature });
        await until(() => at(state).length === 2, 'the states are published');
        assert.deepEqual(at(state), ['{"temperature":21.5}', '{"temperature":22}']);
        // The broker takes what comes at once side by side.
        await until(() => at(config).length > 0, 'the device is described');
        assert.equal(at(config).length, 1);
        const description = homeAssistantReads(config, at(config)[0]!);
        assert.equal(description.device.name, 'Greenhouse');
        const { cooler, 'field-temperature': temperature } = description.components;
        assert.equal(temperature?.['state_topic'], state);
        assert.equal(temperature['unit_of_measurement'], '°C');
        const levels = (): string[] => at(String(cooler?.['state_topic']));
        await broker.publish(String(cooler?.['command_topic']), '1');
        await until(() => levels().at(-1) === '1', 'the level is read back');
        assert.equal(levelOf(scene, ONE), '1');

        const kept = [config, state, `device-cloud/${ONE}/availability`];
        await until(() => kept.every((topic) => broker.retained.get(topic)), 'all of it is kept');
        assert.equal(broker.retained.get(kept[2]!), 'online');
        await scene.press(`Remove ${ONE}`);
        await until(() => !kept.some((topic) => broker.retained.has(topic)), 'nothing is kept');

        // Of a flow that runs anew, what the broker still has of an earlier run is known.
        const old = 'homeassistant/device/device-cloud-777/config';
        await broker.publish(old, '{}', { retain: true });
        await scene.again();
        await scene.waitStatus('What was described', 'node-red:common.status.connected');
        await until(async () => {
          await scene.press('Every day');
          return at(old).includes('');
        }, 'it is removed');
      } finally {
        await stage.red.deploy([]);
        await broker.close();
      }
    },
    {
      async alter(nodes) {
        broker = await startBroker();
        named(nodes, 'Every day')['props'] = [{ p: 'days', v: '-1', vt: 'num' }];
        const button = named(nodes, 'Remove 10000003');
        Object.assign(button, {
          name: `Remove ${ONE}`,
          props: [{ p: 'remove', v: ONE, vt: 'str' }],
        });
        return atPort(nodes, broker.port);
      },
    },
  );
}
