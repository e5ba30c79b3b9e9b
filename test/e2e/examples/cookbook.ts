import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Database } from 'node-sqlite3-wasm';
import { atPort, startBroker, type Broker } from '../../../tooling/servers/broker';
import { linesTo, startLineServer, type LineServer } from '../../../tooling/servers/lines';
import { until } from '../../../tooling/until';
import { ONE, THREE, TWO } from '../harness/fixture';
import type { FlowNode } from '../../../tooling/node-red/nodes';
import { named, ofType } from './files';
import { listening, plays, requestsOf } from './scene';
import type { Scene } from './scene';
import type { Stage } from './stage';

/** Puts another text into a function node, whose original has to be there. */
const rewrite = (nodes: FlowNode[], name: string, from: string, to: string): FlowNode[] => {
  const node = named(nodes, name);
  assert.ok(String(node['func']).includes(from), from);
  node['func'] = String(node['func']).replace(from, to);
  return nodes;
};

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

/** Examples of jobs that people have. */
export function cookbook(stage: Stage): void {
  plays(
    stage,
    'Switch with a pause between',
    'switches by the temperature, and no sooner than the pause is over, not even after a failure',
    async (scene) => {
      const { simulator } = scene;
      await listening(scene, 3);
      simulator.upload(ONE, { temperature: 24.1 });
      await until(() => levelOf(scene, ONE) === '1', 'the pin is high');
      // Within the pause; the other device has a pause of its own.
      simulator.upload(ONE, { temperature: 22 });
      simulator.upload(TWO, { temperature: 22 });
      await scene.waitShown('Switched', 2);
      assert.deepEqual(scene.shown('Switched').sort(), [
        `${ONE}: 1 at 24.1 °C`,
        `${TWO}: 0 at 22 °C`,
      ]);
      const heal = simulator.fail('gateway', { path: 'set_gpio_edge' });
      const goOn = async (): Promise<void> => {
        const count = requestsOf(scene, 'set_gpio_edge').length;
        await until(() => {
          simulator.upload(ONE, { temperature: 22.5 });
          return requestsOf(scene, 'set_gpio_edge').length > count;
        }, 'it is tried after the pause');
      };
      await goOn();
      const [problem] = (await scene.waitShown('What went wrong')) as { code: string }[];
      assert.equal(problem?.code, 'GATEWAY');
      heal();
      await goOn();
      await until(() => levelOf(scene, ONE) === '0', 'the pin is low');
    },
    { alter: (nodes) => rewrite(nodes, 'Decide', '30 * 1000', '5000') },
  );

  plays(
    stage,
    'Alarm once and when it clears',
    'sends one notification for an alarm, and one when it is over',
    async (scene) => {
      const { simulator } = scene;
      await listening(scene, 3);
      for (const temperature of [23.8, 24.2, 25, 23.7, 24.5, 23.4]) {
        simulator.upload(ONE, { temperature });
      }
      simulator.upload(ONE, 'no reading');
      simulator.upload(THREE, { temperature: 30 });
      const texts = (await scene.waitShown('Notification', 3)).map(String);
      const other = `${THREE} is too warm: 30 °C.`;
      assert.ok(texts.includes(other));
      // Devices have no order among each other.
      assert.deepEqual(
        texts.filter((text) => text !== other),
        [
          `Greenhouse (${ONE}) is too warm: 24.2 °C.`,
          `Greenhouse (${ONE}) is fine again: 23.4 °C.`,
        ],
      );
    },
  );

  plays(stage, 'Push a script to all at once', 'says who has taken it', async (scene) => {
    const { simulator } = scene;
    simulator.fail('gateway', { chipid: TWO, path: 'push', times: 1 });
    await scene.press('Push the script');
    const [results] = (await scene.waitShown('What became of each')) as { ok: boolean }[][];
    assert.deepEqual(
      results?.map(({ ok }) => ok),
      [true, false, true],
    );
    const [{ format, text } = {}] = simulator.device(ONE).received;
    assert.deepEqual([format, text], ['LUA', 'print("hello")\n']);
  });

  plays(
    stage,
    'Write uploads to SQLite',
    'writes a row for each upload, though each comes twice',
    async (scene) => {
      const file = join(stage.folder, 'device-cloud-uploads.sqlite');
      await stage.red.deploy([]);
      await rm(file, { force: true });
      await scene.again();
      await listening(scene, 3);
      scene.simulator.upload(ONE, { temperature: 21.5 });
      scene.simulator.upload(THREE, `'); DROP TABLE live; --`);
      await scene.waitShown('Stored', 4);
      const database = new Database(file, { fileMustExist: true, readOnly: true });
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
    { alter: comesTwice },
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
        const lines = body.split('\n').map((line) => line.replace(/ \d{10}$/, ' AT'));
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
    'describes each device once, publishes its uploads, and switches its pin',
    async (scene) => {
      const at = (topic: string): string[] =>
        broker.published.filter((each) => each.topic === topic).map(({ text }) => text);
      try {
        // What is published before there is a connection is dropped.
        await scene.waitStatus('Publish it', 'node-red:common.status.connected');
        await listening(scene, 3);
        const state = `device-cloud/${ONE}/state`;
        for (const temperature of [21.5, 22]) scene.simulator.upload(ONE, { temperature });
        await until(() => at(state).length === 2, 'the states are published');
        assert.deepEqual(at(state), ['{"temperature":21.5}', '{"temperature":22}']);
        const described = at(`homeassistant/device/device-cloud-${ONE}/config`);
        assert.equal(described.length, 1);
        const { device, components } = JSON.parse(described[0] ?? '') as {
          device: { name: string };
          components: Record<string, Record<string, unknown>>;
        };
        assert.equal(device.name, 'Greenhouse');
        assert.equal(components['temperature']?.['state_topic'], state);
        await broker.publish(String(components['pin5']?.['command_topic']), '1');
        await until(() => levelOf(scene, ONE) === '1', 'the pin is high');
      } finally {
        await stage.red.deploy([]);
        await broker.close();
      }
    },
    {
      async alter(nodes) {
        broker = await startBroker();
        return atPort(nodes, broker.port);
      },
    },
  );

  plays(stage, 'Act on a reply', 'switches by the value of the reply', async (scene) => {
    await scene.press('Ask');
    const [done] = await scene.waitShown('Done');
    const level = scene.simulator.device(ONE).temperature > 24 ? '1' : '0';
    assert.deepEqual([done, levelOf(scene, ONE)], [`level ${level}`, level]);
  });

  plays(
    stage,
    'Switch a device that sleeps',
    'waits with the command until the device uploads',
    async (scene) => {
      const { simulator } = scene;
      simulator.sleep(THREE);
      await scene.press('Switch pin 5 on');
      await until(
        () => scene.statusOf('Set at next upload')?.endsWith('status.awaiting-device') === true,
        'it waits for its device',
      );
      assert.deepEqual(requestsOf(scene, 'set_gpio_edge'), []);
      // It uploads once when it wakes.
      await until(() => simulator.channels(THREE) > 0, 'its channel is open');
      simulator.wake(THREE);
      await scene.waitShown('It is switched');
      assert.equal(levelOf(scene, THREE), '1');
    },
  );

  plays(
    stage,
    'Keep a pin over a loss of power',
    'sets the pin, has it confirmed, and doubts it after a reboot',
    async (scene) => {
      await scene.press('Keep pin 5 on');
      await scene.waitShown('Its state', 2);
      assert.equal(levelOf(scene, ONE), '1');
      await scene.press('Reboot 10000001');
      await scene.waitShown('Its state', 3);
      const states = scene.shown('Its state').map((each) => (each as { state: string }).state);
      assert.deepEqual(states, ['pending', 'kept', 'pending']);
      assert.equal(requestsOf(scene, 'set_gpio_edge').length, 1);
    },
  );
}
