import assert from 'node:assert/strict';
import { freePort } from '../../tooling/servers/ports';
import { ONE, TWO } from '../harness/fixture';
import { until } from '../../tooling/until';
import type { FlowNode } from '../../tooling/node-red/nodes';
import { atPort, startBroker, type Broker } from '../../tooling/servers/broker';
import { ofType } from './files';
import { listening, plays } from './scene';
import type { Scene } from './scene';
import type { Stage } from './stage';

const NAME = 'Connect to MQTT';

/** The example that connects devices and MQTT. */
export function mqtt(stage: Stage): void {
  let broker: Broker;

  /** The example at a broker that holds a retained command before anybody connects. */
  const atBroker = async (nodes: FlowNode[]): Promise<FlowNode[]> => {
    const [configured] = ofType(nodes, 'mqtt-broker');
    assert.deepEqual([configured?.['broker'], configured?.['port']], ['localhost', '1883']);
    broker = await startBroker();
    await broker.publish(`device-cloud/${TWO}/push`, 'retained', { retain: true });
    return atPort(nodes, broker.port);
  };
  const publishedAt = (topic: string): string[] =>
    broker.published.filter((each) => each.topic === topic).map(({ text }) => text);
  const published = (topic: string): Promise<void> =>
    until(() => publishedAt(topic).length > 0, `something is published at ${topic}`);
  const connection = (scene: Scene, says: string): Promise<void> =>
    until(() => scene.statusOf('Whether it is there') === says, says);

  plays(
    stage,
    NAME,
    'publishes uploads, and pushes what comes in',
    async (scene) => {
      const { simulator } = scene;
      const texts = (chipid: string): string[] =>
        simulator.device(chipid).received.map(({ text }) => text);
      try {
        await connection(scene, 'Connected to the broker.');
        await listening(scene, 3);
        simulator.upload(ONE, { temperature: 21.5 });
        await published(`device-cloud/${ONE}/upload`);
        simulator.upload(TWO, 'plain text');
        await published(`device-cloud/${TWO}/upload`);
        assert.deepEqual(publishedAt(`device-cloud/${ONE}/upload`), ['{"temperature":21.5}']);
        assert.deepEqual(publishedAt(`device-cloud/${TWO}/upload`), ['plain text']);

        await scene.press('Publish a command');
        await published(`device-cloud/${ONE}/answer`);
        assert.deepEqual(texts(ONE), ['hello from MQTT']);
        assert.deepEqual(publishedAt(`device-cloud/${ONE}/answer`), ['{"msg":"OK"}']);
        // Text stays text, whatever it looks like.
        await broker.publish(`device-cloud/${TWO}/push`, '007');
        await published(`device-cloud/${TWO}/answer`);
        await broker.publish('device-cloud/99999999/push', 'to nobody');
        await published('device-cloud/99999999/error');
        const [error] = publishedAt('device-cloud/99999999/error');
        assert.equal((JSON.parse(error ?? '') as { code: string }).code, 'NOT_FOUND');
        assert.deepEqual(texts(TWO), ['007']);
        await until(
          () => scene.shown('What is published').includes(`device-cloud/${TWO}/push: retained`),
          'it was retained',
        );
      } finally {
        await stage.red.deploy([]);
        await broker.close();
      }
    },
    { alter: atBroker },
  );

  plays(
    stage,
    NAME,
    'says that no broker is there, and shows uploads all the same',
    async (scene) => {
      await connection(scene, 'No broker: nothing is published.');
      await listening(scene, 3);
      scene.simulator.upload(ONE, 'seen');
      assert.deepEqual(await scene.waitShown('Each upload'), ['seen']);
    },
    { alter: async (nodes) => atPort(nodes, await freePort()) },
  );
}
