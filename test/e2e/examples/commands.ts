import assert from 'node:assert/strict';
import { ONE, THREE, TWO } from '../harness/fixture';
import { until } from '../../../tooling/until';
import { EACH_MINUTE, once } from './files';
import { plays, playsOnBoth, requestsOf } from './scene';
import type { Stage } from './stage';

/** The modules of the public server have no pins 6 to 8 and 11. */
const whereThereIsAPin = (level: number, pin: number): number | null =>
  [6, 7, 8, 11].includes(pin) ? null : level;

/** Examples that push, switch and ask. */
export function commands(stage: Stage): void {
  playsOnBoth(
    stage,
    'Push a message',
    'pushes in every format, to one and to all',
    async (scene) => {
      const buttons = [
        'Push hello',
        'Push the bytes 01 02 ff',
        'Push the bytes AQL/',
        'Push AT+GMR',
        'Push a line of Lua',
      ];
      for (const [i, button] of buttons.entries()) {
        await scene.press(button);
        assert.deepEqual((await scene.waitShown('The answer', i + 1)).at(-1), { msg: 'OK' });
      }
      await scene.press('Push hello to all');
      await scene.waitShown('That it is sent');
      await scene.press('Hello over the channel');
      assert.deepEqual((await scene.waitShown('That it is sent', 2)).at(-1), { msg: 'sent' });
      const { received } = scene.simulator.device(ONE);
      await until(() => received.length === 7, 'all seven have arrived');
      assert.deepEqual(
        received.map(({ via, format, bytes }) => [via, format, bytes.toString('latin1')]),
        [
          ['open-api', 'MSG', 'hello'],
          ['open-api', 'HEX', '\u0001\u0002\u00ff'],
          ['open-api', 'B64', '\u0001\u0002\u00ff'],
          ['open-api', 'AT', scene.isPublic ? 'AT+GMR\r\n' : 'AT+GMR'],
          ['open-api', 'LUA', 'print("hello")'],
          ['app-push', 'MSG', 'hello, all'],
          ['channel', 'B64', 'hello over the channel'],
        ],
      );
      assert.deepEqual(
        [TWO, THREE].map((chipid) =>
          scene.simulator.device(chipid).received.map(({ text }) => text),
        ),
        [['hello, all'], ['hello, all']],
      );
    },
  );

  playsOnBoth(stage, 'Set and read pins', 'switches the pin and reads it back', async (scene) => {
    const { simulator } = scene;
    await scene.press('Switch pin 5 on');
    await scene.waitShown('The answer');
    assert.equal(simulator.device(ONE).levels, '0000010000000000');
    await scene.press('Read pin 5');
    assert.deepEqual(await scene.waitShown('Its level'), [1]);
    await scene.press('Read all pins');
    const [levels] = await scene.waitShown('All levels');
    const expected = Array.from(simulator.device(ONE).levels, Number);
    assert.deepEqual(levels, scene.isPublic ? expected.map(whereThereIsAPin) : expected);
    await scene.press('Switch pin 5 off');
    await scene.waitShown('The answer', 2);
    assert.equal(simulator.device(ONE).levels[5], '0');
  });

  playsOnBoth(
    stage,
    'Read a value every minute',
    'reads again and again, and on demand',
    async (scene) => {
      const { temperature } = scene.simulator.device(ONE);
      assert.deepEqual(await scene.waitShown('The temperature'), [temperature]);
      await scene.press(EACH_MINUTE);
      assert.deepEqual(await scene.waitShown('The temperature', 2), [temperature, temperature]);
      await scene.waitStatus('The temperature', String(temperature));
      await scene.press('Read its configuration');
      const [config] = (await scene.waitShown('The value')) as { relayPin: number }[];
      assert.equal(config?.relayPin, 5);
      await scene.press('Ask for an unknown key');
      const [error] = (await scene.waitShown('What went wrong')) as { code: string }[];
      assert.equal(error?.code, scene.isPublic ? 'INVALID_RESPONSE' : 'NOT_FOUND');
    },
    { alter: once },
  );

  plays(stage, 'Ask whether a device is online', 'takes one way or the other', async (scene) => {
    await scene.press('Ask now');
    assert.deepEqual(await scene.waitShown('It is online'), [ONE]);
    scene.simulator.switchOff(ONE);
    await scene.press('Ask now');
    assert.deepEqual(await scene.waitShown('No answer'), [ONE]);
    for (const fault of ['gateway-timeout', 'gateway'] as const) {
      const before = scene.shown('No answer').length;
      scene.simulator.fail(fault, { times: 1 });
      await scene.press('Ask now');
      const shown = await scene.waitShown('No answer', before + 1);
      assert.equal(shown.at(-1), ONE);
    }
    assert.equal(scene.shown('It is online').length, 1);
    assert.deepEqual(scene.shown('What went wrong'), []);
  });

  plays(stage, 'Reboot a device', 'resets it, or says that it is not there', async (scene) => {
    await scene.press('Reboot 10000001');
    await scene.waitShown('The answer');
    await until(() => scene.simulator.device(ONE).boots === 1, 'it has booted');
    await scene.press('Reboot 99999999');
    const [error] = (await scene.waitShown('What went wrong')) as { code: string }[];
    assert.equal(error?.code, 'NOT_FOUND');
    assert.equal(requestsOf(scene, 'reboot').length, 2);
  });
}
