import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { closeDialog, dialogReady, ROW } from '../tooling/editor/dialog';
import { repository } from '../tooling/repository';
import { TIMEOUT, until } from '../tooling/until';
import { world, type World } from './world';

/** The numbered steps of a page, in their order, each on one line and without its pictures. */
function stepsOf(page: string, from = '', to = '\n## '): string[] {
  const text = readFileSync(join(repository, page), 'utf8');
  const start = text.indexOf(from) + from.length;
  const end = from === '' ? text.length : text.indexOf(to, start);
  return [...text.slice(start, end).matchAll(/^\d+\. (.*(?:\n {3}\S.*)*)/gm)].map(([, step = '']) =>
    step.replaceAll(/\s+/g, ' '),
  );
}

const typedInput = (property: string): string =>
  `#node-input-${property} ~ .red-ui-typedInput-container`;

/** What a person does in the editor with mouse and keyboard. Nodes are known by the order in which they came. */
function person(here: World) {
  const nodes: string[] = [];
  const page = () => here.editor.page;
  const node = (id: string): string => `[id="${id}"] .red-ui-flow-node`;

  const drag = async (type: string, x: number, y: number): Promise<string> => {
    await page().fill('#red-ui-palette-search input', type);
    const entry = page().locator(`.red-ui-palette-node[data-palette-type='${type}']`);
    await entry.scrollIntoViewIfNeeded();
    const added = () =>
      here.editor.run<string[]>(`RED.nodes.filterNodes({ type: '${type}' }).map(({ id }) => id)`);
    const { length } = await added();
    // The palette may still move when the mouse comes: then a person drags again.
    for (let tries = 0; tries < 3 && (await added()).length === length; tries++) {
      const box = (await entry.boundingBox())!;
      const canvas = (await page().locator('#red-ui-workspace-chart').boundingBox())!;
      await page().mouse.move(box.x + 20, box.y + 10);
      await page().mouse.down();
      await page().mouse.move(canvas.x + x, canvas.y + y, { steps: 10 });
      await page().mouse.up();
    }
    const id = (await added()).at(-1)!;
    nodes.push(id);
    return id;
  };
  const port = async (id: string, kind: 'input' | 'output'): Promise<[number, number]> => {
    const found = page().locator(`[id="${id}"] .red-ui-flow-port-${kind} .red-ui-flow-port`);
    const { x, y, width, height } = (await found.first().boundingBox())!;
    return [x + width / 2, y + height / 2];
  };
  const wire = async (from: string, to: string): Promise<void> => {
    await page().mouse.move(...(await port(from, 'output')));
    await page().mouse.down();
    await page().mouse.move(...(await port(to, 'input')), { steps: 5 });
    await page().mouse.up();
  };
  const open = async (id: string): Promise<void> => {
    await page().locator(node(id)).dblclick();
    await dialogReady(here.editor);
  };
  const done = (): Promise<void> => closeDialog(here.editor);
  const deploy = async (): Promise<void> => {
    const from = here.red.log().length;
    await page().click('#red-ui-header-button-deploy');
    await page().waitForFunction('!RED.nodes.dirty()', undefined, { timeout: TIMEOUT });
    // The new flows are ready a little later.
    await here.red.logged(/Started (modified )?(flows|nodes)/, from);
  };
  const addSimulator = async (): Promise<void> => {
    await page().click('#node-input-btn-app-add');
    await page().waitForSelector('#node-config-input-service');
    await dialogReady(here.editor);
    await page().selectOption('#node-config-input-service', 'simulator');
    await done();
  };
  const chooseListed = async (): Promise<void> => {
    await page().locator('.device-cloud-chipid').last().click();
    await page().locator(ROW, { hasText: '10000001' }).click();
  };
  const chooseDevice = async (): Promise<void> => {
    await page().click(`${typedInput('chipid')} .red-ui-typedInput-input`);
    await page().locator(ROW, { hasText: '10000001' }).click();
  };
  const chooseType = async (property: string, label: string): Promise<void> => {
    await page().click(`${typedInput(property)} .red-ui-typedInput-type-select`);
    await page().locator('.red-ui-typedInput-options:visible a', { hasText: label }).click();
  };
  /** Where pin and level are already as they are asked for, it changes nothing. */
  const choosePinAndLevel = async (): Promise<void> => {
    await chooseType('pin', 'number');
    await page().fill(`${typedInput('pin')} .red-ui-typedInput-input`, '5');
    await chooseType('level', 'level');
    await page().click(`${typedInput('level')} .red-ui-typedInput-option-trigger`);
    await page().locator('.red-ui-typedInput-options:visible a', { hasText: 'high' }).click();
  };
  const press = (id: string): Promise<void> =>
    page().locator(`[id="${id}"] .red-ui-flow-node-button-button`).click();
  /** The texts in the debug sidebar, oldest first. */
  const debugged = (): Promise<string[]> =>
    page()
      .locator('.red-ui-debug-msg')
      .evaluateAll((all) => all.map(({ textContent }) => textContent));
  const readings = async (): Promise<number[]> =>
    (await debugged()).flatMap((text) => Number(/temperature: ([\d.]+)/.exec(text)?.[1] ?? []));
  const reads = (count: number): Promise<void> =>
    until(async () => (await readings()).length >= count, `${count} readings have come`);
  const hears = (pattern: RegExp): Promise<void> =>
    until(async () => (await debugged()).some((text) => pattern.test(text)), String(pattern));
  const status = (id: string, text: string): Promise<void> =>
    page().locator(`[id="${id}"] .red-ui-flow-node-status-label`, { hasText: text }).waitFor();
  /** Cooling, each reading is half a degree lower; without, it may be so by chance only once. */
  const cools = async (): Promise<void> => {
    const before = (await readings()).length;
    await until(async () => {
      const since = (await readings()).slice(before);
      return since.some((value, index) => value < since[index - 2]!);
    }, 'the temperature falls');
  };
  return {
    ...{ nodes, page, drag, wire, open, done, deploy, addSimulator, chooseListed, chooseDevice },
    ...{ choosePinAndLevel, press, reads, hears, status, cools },
  };
}

type Steps = (hand: ReturnType<typeof person>) => Record<string, () => Promise<void>>;

const README: Steps = (hand) => ({
  'Drag **listen** and **debug** onto the workspace, and wire them.': async () => {
    await hand.drag('device-cloud-listen', 150, 100);
    await hand.drag('debug', 400, 100);
    await hand.wire(hand.nodes[0]!, hand.nodes[1]!);
  },
  'Open the listener and press **+** next to **Application**. **Service**: _built-in simulator_. **Add**.':
    async () => {
      await hand.open(hand.nodes[0]!);
      await hand.addSimulator();
    },
  'Click into the row under **Devices** and choose a device. **Done**, **Deploy**: a reading arrives every five seconds.':
    async () => {
      await hand.chooseListed();
      await hand.done();
      await hand.deploy();
      await hand.reads(2);
    },
  'Add **inject** → **gpio** → **debug**. Choose the same device, pin `5`, level _high_. Deploy and press the button: the device cools, and its temperature falls.':
    async () => {
      const inject = await hand.drag('inject', 100, 200);
      const gpio = await hand.drag('device-cloud-gpio', 300, 200);
      const debug = await hand.drag('debug', 550, 200);
      await hand.wire(inject, gpio);
      await hand.wire(gpio, debug);
      await hand.open(gpio);
      await hand.chooseDevice();
      await hand.choosePinAndLevel();
      await hand.done();
      await hand.deploy();
      await hand.press(inject);
      await hand.hears(/result: "OK"/);
      await hand.cools();
    },
});

const QUICK_START: Steps = (hand) => ({
  'Drag **listen** onto the workspace and open it.': async () => {
    await hand.open(await hand.drag('device-cloud-listen', 150, 100));
  },
  'Press **+** next to **Application**. As **Service** choose _built-in simulator_. Press **Add**.':
    hand.addSimulator,
  'Under **Devices** click into the empty row and choose the first device, `10000001`. Press **Done**.':
    async () => {
      await hand.chooseListed();
      await hand.done();
    },
  'Wire the node to a **debug** node and press **Deploy**.': async () => {
    await hand.wire(hand.nodes[0]!, await hand.drag('debug', 400, 100));
    await hand.deploy();
    await hand.status(hand.nodes[0]!, 'connected');
    await hand.reads(2);
  },
  'Drag **gpio** onto the workspace and open it. The only application is already chosen.':
    async () => {
      await hand.open(await hand.drag('device-cloud-gpio', 300, 200));
      assert.match(await hand.page().inputValue('#node-input-app'), /^[0-9a-f]+$/);
    },
  '**Device**: click into the field and choose `10000001`.': hand.chooseDevice,
  '**Pin**: `5`, of the type _number_. **Level**: _high (1)_, of the type _level_. Press **Done**.':
    async () => {
      await hand.choosePinAndLevel();
      await hand.done();
    },
  "Wire an **inject** node to its input and its output to a **debug** node. Press **Deploy**, then the inject node's button.":
    async () => {
      const gpio = hand.nodes.at(-1)!;
      const inject = await hand.drag('inject', 100, 200);
      await hand.wire(inject, gpio);
      await hand.wire(gpio, await hand.drag('debug', 550, 200));
      await hand.deploy();
      await hand.press(inject);
      await hand.hears(/result: "OK"/);
      await hand.cools();
    },
  'Drag a **catch** node and a **debug** node onto the workspace, and wire them. Set the **Output** of the debug node to `msg.` `error`.':
    async () => {
      const caught = await hand.drag('catch', 100, 300);
      const debug = await hand.drag('debug', 300, 300);
      await hand.wire(caught, debug);
      await hand.open(debug);
      const output = '#node-input-typed-complete ~ .red-ui-typedInput-container';
      await hand.page().fill(`${output} .red-ui-typedInput-input`, 'error');
      await hand.done();
    },
  "Change the gpio node's device to `99`. Press **Deploy**, and the button again.": async () => {
    const [, , gpio, inject] = hand.nodes;
    await hand.open(gpio!);
    await hand.page().fill(`${typedInput('chipid')} .red-ui-typedInput-input`, '99');
    await hand.done();
    await hand.deploy();
    await hand.press(inject!);
    await hand.status(gpio!, 'not found');
    await hand.hears(/NOT_FOUND/);
  },
});

for (const { title, page, from, steps } of [
  {
    title: 'the first minute of the README',
    page: 'README',
    from: '## The first minute',
    steps: README,
  },
  { title: 'the quick start', page: 'docs/use/quick-start', from: '', steps: QUICK_START },
]) {
  describe(`${title}, step by step`, () => {
    const here = world(() => []);
    const hand = person(here);
    const done = steps(hand);
    before(() => here.editor.run(`RED.sidebar.show('debug')`));

    it('has these steps, in both languages as many', () => {
      assert.deepEqual(stepsOf(`${page}.md`, from), Object.keys(done));
      const chinese = stepsOf(`${page}.zh-CN.md`, from && '## 第一分钟');
      assert.equal(chinese.length, Object.keys(done).length);
    });

    for (const step of stepsOf(`${page}.md`, from)) {
      it(step, async () => {
        const does = done[step];
        assert.ok(does, 'nobody does this step');
        await does();
      });
    }
  });
}
