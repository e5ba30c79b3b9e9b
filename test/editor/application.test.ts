import assert from 'node:assert/strict';
import { httpService, json, raw } from '../tooling/servers/http-service';
import { closeDialog, openDialog } from '../tooling/editor/dialog';
import { app } from '../tooling/node-red/nodes';
import { LOOPBACK } from '../tooling/servers/certs';
import { PUBLIC_DIALECT } from '../tooling/dialect';
import { faint, inEachTheme } from './colours';
import { world, type World } from './world';

interface Sent {
  credentials: Record<string, string>;
}

/** Shows the dialog of the application for each test. @returns what types into it, and what presses its test button */
function testDialog(here: World) {
  beforeEach(() => openDialog(here.editor, 'app'));
  afterEach(() => closeDialog(here.editor, 'cancel'));

  const type = async (values: Record<string, string>): Promise<void> => {
    for (const [property, value] of Object.entries(values))
      await here.editor.page.fill(`#node-config-input-${property}`, value);
  };
  const shown = (): Promise<string[]> =>
    here.editor.page.locator('.device-cloud-result li').allInnerTexts();
  const press = async (values: Record<string, string> = {}) => {
    const { page } = here.editor;
    await type(values);
    const request = page.waitForRequest((sent) => sent.url().endsWith('apps/test'));
    await page.click('#device-cloud-test');
    const sent = (await request).postDataJSON() as Sent;
    await page.waitForSelector('#device-cloud-test:enabled');
    return { lines: await shown(), sent };
  };
  return { type, shown, press };
}

describe('the test button of an application', () => {
  /** Milliseconds by which the service's clock is ahead. */
  let ahead = 0;
  const here = world((simulator) => [app(simulator)], {
    simulator: { appName: '<b>Greenhouse</b>', now: () => Date.now() + ahead },
  });

  const { type, shown, press } = testDialog(here);

  /** Whether the result is seen without scrolling. */
  const isInView = (): Promise<boolean> =>
    here.editor.run(`(() => {
      const list = document.querySelector('.device-cloud-result').getBoundingClientRect();
      const tray = $('.device-cloud-result').closest('.red-ui-tray-body')[0].getBoundingClientRect();
      return list.top >= tray.top && list.bottom <= tray.bottom + 1;
    })()`);

  it('uses stored keys without sending them to the browser', async () => {
    const { lines, sent } = await press();
    await here.editor.picture('test-accepted');
    assert.deepEqual(sent.credentials, { serverKey: here.simulator.serverKey });
    assert.ok(lines.includes('Open API: the key is accepted'), lines.join());
    assert.ok(lines.includes('Server API: the key is accepted'), lines.join());
    assert.ok(lines.includes('Application: <b>Greenhouse</b>'), lines.join());
    assert.ok(lines.includes(`Devices online: ${here.simulator.devices.size}`), lines.join());
    assert.ok(lines.includes("This clock agrees with the service's"), lines.join());
    assert.ok(lines.includes("Answers as the service's document says"), lines.join());
    assert.ok(lines.includes('Channel: connected to device 10000001'), lines.join());
    assert.ok(await isInView(), 'the whole result is in view');
  });

  it('tests what is typed before it is saved, and says that a key is wrong', async () => {
    const { lines, sent } = await press({ appkey: 'wrong', serverPassword: 'wrong' });
    await here.editor.picture('test-refused');
    assert.equal(sent.credentials['appkey'], 'wrong');
    assert.match(
      lines[0]!,
      /^Open API: refused\. Most likely: the app key is wrong\s+UNAUTHORIZED: .*401/,
    );
    assert.equal(lines[1], 'Otherwise: the App ID is wrong');
    assert.equal(lines[2], "Answers as the service's document says");
    assert.match(lines[3]!, /^Server API: refused\. Most likely: the key or the password is wrong/);
  });

  it('shows the cause first, in a window of 800 pixels without scrolling', async () => {
    const { page } = here.editor;
    const usual = page.viewportSize()!;
    await page.setViewportSize({ width: 1280, height: 800 });
    try {
      const { lines } = await press({ appkey: `${here.simulator.appkey} ` });
      await here.editor.picture('test-800');
      assert.equal(lines[0], 'Open API: App key ends with a blank');
      assert.match(lines[1]!, /^Open API: refused\./);
      assert.ok(await isInView(), 'the whole result is in view');
    } finally {
      await page.setViewportSize(usual);
    }
  });

  it('marks App ID and key when both are missing, and tests nothing', async () => {
    await type({ appid: '', appkey: '', serverKey: '', serverPassword: '' });
    const marked = (property: string): Promise<boolean> =>
      here.editor.run(`$('#node-config-input-${property}').hasClass('input-error')`);
    assert.deepEqual([await marked('appid'), await marked('appkey')], [true, true]);
    await here.editor.page.click('#device-cloud-test');
    const lines = await shown();
    assert.match(
      lines.join('\n'),
      /^App ID \(appid\): needed, unless .*\nApp key: needed, unless /,
    );
  });

  it('takes a 404 of the open API for a refused account, and says what one of the server API means', async () => {
    const service = await httpService(json({ msg: 'nothing here' }, 404));
    const { lines } = await press({
      baseUrl: service.baseUrl,
      appkey: 'typed',
      serverPassword: 'typed',
    });
    assert.match(
      lines[0]!,
      /^Open API: refused\. Most likely: the App ID is wrong\s+NOT_FOUND: .*here/,
    );
    assert.match(lines[3]!, /^Server API: not found · 127\.0\.0\.1:\d+\s/);
    await service.close();
  });

  it('asks for stored keys to be typed again for another address, and names a host that cannot be reached', async () => {
    const { lines } = await press({ baseUrl: 'http://nowhere.invalid:8080' });
    await here.editor.picture('test-type-again');
    assert.match(lines[0]!, /^Open API: type it again: App key\. What is stored/);
    assert.match(lines[1]!, /^Server API: type it again: Password\. What is stored/);
    const typed = await press({ appkey: 'typed' });
    assert.match(typed.lines[0]!, /^Open API: unreachable · nowhere\.invalid:8080\s/);
  });

  it('says nothing of a server API that nobody uses, nor of its limit on clocks', async () => {
    ahead = 3 * 3_600_000;
    const { lines } = await press({ serverKey: '', serverPassword: '' });
    ahead = 0;
    assert.ok(lines.includes('Open API: the key is accepted'), lines.join());
    assert.doesNotMatch(lines.join('\n'), /server/i);
    assert.match(lines.at(-1)!, /^This clock is 10\d{3} s off the service's$/);
  });

  it('needs nothing for the simulator, and says nothing of keys and clocks', async () => {
    await here.editor.page.selectOption('#node-config-input-service', 'simulator');
    assert.equal(await here.editor.page.isVisible('#node-config-input-baseUrl'), false);
    const { lines } = await press();
    await here.editor.picture('test-simulator');
    assert.deepEqual(lines.slice(0, 2), ['The built-in simulator works', 'Application: Simulator']);
    assert.doesNotMatch(lines.join('\n'), /key|clock|API|document/i);
  });

  it('says once that an address is not a device cloud', async () => {
    const { baseUrl } = await httpService(raw('<html>Welcome</html>', 404));
    const { lines } = await press({ baseUrl, appkey: 'typed', serverPassword: 'typed' });
    assert.equal(lines.length, 1);
    assert.match(lines[0]!, /^Open API: 127\.0\.0\.1:\d+ answers, but is not a device cloud\./);
  });

  it('says that the clock is three hours off when a key is refused for that reason', async () => {
    ahead = 3 * 3_600_000;
    // Without the open API, which does not mind.
    await type({ appid: '', appkey: '' });
    const { lines } = await press();
    await here.editor.picture('test-clock');
    assert.equal(lines[0], 'Open API: not tried, no key is given');
    assert.match(lines[1]!, /^Server API: refused\. Most likely: this clock is 10\d{3} s off/);
    assert.match(lines[3]!, /^This clock is 10\d{3} s off.* refuses more than 7200 s$/);
  });
});

describe('the test of an application whose service answers as the public server did', () => {
  const here = world((simulator) => [app(simulator)], {
    simulator: { dialect: PUBLIC_DIALECT },
  });
  const dialog = testDialog(here);

  /** Types the address and the key beside the usual App ID, and tests them. */
  async function press(typed: { baseUrl?: string; appid?: string; appkey?: string } = {}) {
    const { baseUrl, appid, appkey } = here.simulator;
    const keys = { baseUrl, appid, appkey, serverKey: '', serverPassword: '', ...typed };
    return (await dialog.press(keys)).lines;
  }

  it('says so, and that the channel connects', async () => {
    const lines = await press();
    await here.editor.picture('test-public');
    assert.ok(lines.includes('Answers as the public server of 2016 does'), lines.join());
    assert.ok(lines.includes('Channel: connected to device 10000001'), lines.join());
  });

  it('names the likely cause of a refusal first', async () => {
    const [first] = await press({ appkey: here.simulator.appkey.toUpperCase() });
    await here.editor.picture('test-public-refused');
    assert.match(first!, /^Open API: refused\. Most likely: capital letters in the app key/);
  });

  it('names a wrong App ID, and shows what was signed and a command, in which there is no key', async () => {
    const [first] = await press({ appid: '99' });
    assert.match(first!, /^Open API: refused: the App ID is wrong/);
    await here.editor.page.click('.device-cloud-result summary');
    const [signed, curl] = await here.editor.page
      .locator('.device-cloud-result pre')
      .allInnerTexts();
    assert.match(signed!, /^gettimestamp=\d{10}&appid=99<APPKEY>$/);
    assert.match(curl!, /\$APPKEY[^]*curl -sSi 'http:\/\/127\.0\.0\.1:\d+\/openapi\/apps\//);
    assert.doesNotMatch(signed! + curl!, /[0-9a-f]{32}/);
    await inEachTheme(here.editor, async (theme) => {
      await here.editor.picture(`test-signed-${theme}`);
      assert.deepEqual(await faint(here.editor), [], theme);
    });
  });

  it('says what to choose for a certificate that is not trusted, and to try https', async () => {
    const service = await httpService(json({}), LOOPBACK);
    const [untrusted] = await press({ baseUrl: service.baseUrl });
    assert.match(
      untrusted!,
      /has a certificate that this machine does not trust\. Under TLS choose/,
    );
    const [plain] = await press({ baseUrl: service.baseUrl.replace('https:', 'http:') });
    assert.match(plain!, /answers with TLS: try https/);
  });
});
