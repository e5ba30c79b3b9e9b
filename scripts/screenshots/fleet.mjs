import { startSimulator } from '../../dist/src/simulator/index.js';
import { app, node } from '../../dist/test/tooling/node-red/nodes.js';
import { until } from '../../dist/test/tooling/until.js';

/** The devices of the picture, as people of either language name theirs. */
const NAMES = {
  'en-US': 'Farm,Greenhouse,Cold store,Well pump,Door sensor,Weather,Power meter,Gate'.split(','),
  'zh-CN': '农场,温室,冷库,水井泵,门磁,气象站,电表,大门'.split(','),
};

const FIRST = 20_000_001;
/** What happens to some of them. */
const [CUT, FAILS, SLEEPS, GOES, REFUSED] = [1, 3, 4, 6, 7].map((n) => `2000000${n}`);

/** Starts a simulated fleet in one language, in which a little of everything happens, and its flow. */
export async function startFleet(language) {
  const [appName, ...names] = NAMES[language];
  const devices = names.map((name, index) => ({ chipid: FIRST + index, name }));
  devices.find(({ chipid }) => String(chipid) === SLEEPS).interval = 0;
  const simulator = await startSimulator({ devices, appName, interval: 7, answerDelay: 1 });
  const at = { app: `fleet-${language}`, chipidType: 'str' };
  const id = (name) => `${name}-${language}`;
  const place = (name, line, properties, to) => ({
    ...{ ...properties, id: id(name), z: 'fleet', x: 150, y: 60 * line },
    wires: [to ? [id(to)] : []],
  });
  const waits = { when: 'upload', pinType: 'num', pin: '5', levelType: 'num', level: '1' };
  const value = { ...at, chipid: FAILS, key: 'flow', keyType: 'str' };
  const inject = { type: 'inject', props: [] };
  return {
    flows: [
      { ...app(simulator), id: at.app, name: appName },
      place('listen', 1, node('listen', { ...at, devices: 'online', refresh: '2' })),
      place('gpio', 2, node('gpio', { ...at, ...waits, chipid: SLEEPS })),
      place('value', 3, node('rt-status', value)),
      place('press', 4, inject, 'gpio'),
      place('ask', 5, inject, 'value'),
    ],
    /** What makes a fleet worth a look, once its channels are open. */
    async happen(nodeRed) {
      const ready = () => [CUT, SLEEPS, REFUSED].every((chipid) => simulator.channels(chipid) > 0);
      await until(ready, 'the channels are open');
      simulator.upload(SLEEPS);
      simulator.sleep(SLEEPS);
      simulator.switchOff(GOES);
      simulator.fail('gateway-upgrade', { chipid: REFUSED });
      for (const chipid of [CUT, REFUSED]) simulator.disconnect(chipid);
      simulator.upload(CUT);
      for (const name of ['press', 'ask'])
        await fetch(`${nodeRed}/inject/${id(name)}`, { method: 'POST' });
    },
    close: () => simulator.close(),
  };
}

/** Shows the tab of the sidebar with the fleet of a language, one of its devices selected. */
export async function showFleet(page, language) {
  await page.evaluate(`RED.sidebar.show('device-cloud-fleet')`);
  await page.selectOption('#device-cloud-fleet-app', `fleet-${language}`);
  await page.waitForFunction(`$('.device-cloud-fleet [role=option]').length === 7`);
  await page.click(`[id^=device-cloud-row-${SLEEPS}-]`);
  await page.waitForSelector('.device-cloud-fleet-details');
}
