import { startSimulator } from '../../dist/src/simulator/index.js';
import { app, node } from '../../dist/test/tooling/node-red/nodes.js';
import { until } from '../../dist/test/tooling/until.js';

/** The devices of the picture, as people of either language name theirs. */
const FLEETS = {
  'en-US': {
    appName: 'Farm',
    names: [
      'Greenhouse',
      'Cold store',
      'Well pump',
      'Door sensor',
      'Weather',
      'Power meter',
      'Gate',
    ],
  },
  'zh-CN': {
    appName: '农场',
    names: ['温室', '冷库', '水井泵', '门磁', '气象站', '电表', '大门'],
  },
};

const FIRST = 20_000_001;
/** What happens to some of them. */
const CUT = '20000001';
const FAILS = '20000003';
const SLEEPS = '20000004';
const GOES = '20000006';
const REFUSED = '20000007';

const inject = (id, line, to) => ({
  ...{ id, type: 'inject', z: 'fleet', props: [], x: 150, y: 60 * line, wires: [[to]] },
});

/** A simulated fleet in one language, in which a little of everything happens, and its flow. */
class Fleet {
  constructor(language) {
    this.language = language;
  }

  async start() {
    const { appName, names } = FLEETS[this.language];
    const devices = names.map((name, index) => ({ chipid: FIRST + index, name }));
    devices.find(({ chipid }) => String(chipid) === SLEEPS).interval = 0;
    this.simulator = await startSimulator({ devices, appName, interval: 7, answerDelay: 1 });
    return this;
  }

  flow() {
    const { language } = this;
    const at = { app: `fleet-${language}`, chipidType: 'str' };
    const id = (name) => `${name}-${language}`;
    const place = (line) => ({ z: 'fleet', x: 400, y: 60 * line, wires: [[]] });
    const waits = { when: 'upload', pinType: 'num', pin: '5', levelType: 'num', level: '1' };
    return [
      { ...app(this.simulator), id: at.app, name: FLEETS[language].appName },
      {
        ...node('listen', { ...at, devices: 'online', refresh: '2' }),
        id: id('listen'),
        ...place(1),
      },
      { ...node('gpio', { ...at, ...waits, chipid: SLEEPS }), id: id('gpio'), ...place(2) },
      {
        ...node('rt-status', { ...at, chipid: FAILS, key: 'flow', keyType: 'str' }),
        id: id('value'),
        ...place(3),
      },
      inject(id('press'), 2, id('gpio')),
      inject(id('ask'), 3, id('value')),
    ];
  }

  /** What makes a fleet worth a look, once its channels are open. */
  async happen(nodeRed) {
    const { simulator, language } = this;
    const ready = () => [CUT, SLEEPS, REFUSED].every((chipid) => simulator.channels(chipid) > 0);
    await until(ready, 'the channels are open');
    simulator.upload(SLEEPS);
    simulator.sleep(SLEEPS);
    simulator.switchOff(GOES);
    simulator.fail('gateway-upgrade', { chipid: REFUSED });
    for (const chipid of [CUT, REFUSED]) simulator.disconnect(chipid);
    simulator.upload(CUT);
    for (const name of ['press', 'ask']) {
      await fetch(`${nodeRed}/inject/${name}-${language}`, { method: 'POST' });
    }
  }
}

/** Starts the fleets of the languages; their flows go into the one Node-RED of the pictures. */
export async function startFleets(languages) {
  const fleets = [];
  for (const language of languages) fleets.push(await new Fleet(language).start());
  return {
    flows: [
      { id: 'fleet', type: 'tab', label: 'Fleet' },
      ...fleets.flatMap((fleet) => fleet.flow()),
    ],
    happen: (nodeRed) => Promise.all(fleets.map((fleet) => fleet.happen(nodeRed))),
    close: () => Promise.all(fleets.map(({ simulator }) => simulator.close())),
  };
}

/** Shows the tab of the sidebar with the fleet of a language, one of its devices selected. */
export async function showFleet(page, language) {
  await page.evaluate(`RED.sidebar.show('device-cloud-fleet')`);
  await page.selectOption('#device-cloud-fleet-app', `fleet-${language}`);
  await page.waitForFunction(
    `$('.device-cloud-fleet [role=option]').length === ${FLEETS['en-US'].names.length}`,
  );
  await page.click(`[id^=device-cloud-row-${SLEEPS}-]`);
  await page.waitForSelector('.device-cloud-fleet-details');
}
