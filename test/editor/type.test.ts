import assert from 'node:assert/strict';
import { closeDialog, exported, fill, openDialog } from '../tooling/editor/dialog';
import { apps, sampleNodes } from '../tooling/editor/samples';
import { world } from './world';

const BYTES = '#node-config-input-bytes';
const UNITS = '#node-config-input-units';
const LIMITS = '#node-config-input-limits';
const DECODE = '#node-config-input-decode';
const TYPED = '#device-cloud-try-typed';

describe('the dialog of a type', () => {
  const here = world(() => [...apps, ...sampleNodes]);

  /** Waits until the result is these lines. */
  async function results(...lines: string[]): Promise<void> {
    const shown = (): Promise<string[]> =>
      here.editor.run(`$('#device-cloud-try-result li').toArray().map((li) => $(li).text())`);
    await here.editor.page
      .waitForFunction(
        `JSON.stringify($('#device-cloud-try-result li').toArray().map((li) => $(li).text())) === ${JSON.stringify(JSON.stringify(lines))}`,
      )
      .catch(async () => assert.deepEqual(await shown(), lines));
  }

  it('shows what becomes of an upload while one types, and where the fields are wrong', async () => {
    const { page } = here.editor;
    await openDialog(here.editor, 'type');
    await fill(here.editor, TYPED, '08 66 50');
    await results('temperature: 21.5 °C', 'battery: 80');
    await here.editor.picture('type');
    await fill(here.editor, TYPED, '08 6');
    await results('only hex digits 0-9 and a-f, in pairs; spaces are allowed');
    await fill(here.editor, TYPED, '08');
    await results('The upload is too short: it has 1 of the 3 bytes that the fields take.');
    await fill(here.editor, BYTES, 'u8 a, u16 b');
    const wrong = 'wrong at character 7: u16 needs the order of its bytes: u16be or u16le';
    assert.equal(await page.textContent('#device-cloud-bytes-error'), wrong);
    assert.ok(await page.isVisible(`${BYTES}.input-error`));
    await fill(here.editor, BYTES, 'u8 a, u8');
    const unfinished = 'wrong at character 9: a name is expected, of letters, digits and _';
    assert.equal(await page.textContent('#device-cloud-bytes-error'), unfinished);
    await fill(here.editor, LIMITS, 'temperature > 30\ntemperature < 5 clear > 4');
    const noLimit =
      '"temperature < 5 clear > 4" is not a limit; one looks like temperature > 30 for 60 clear < 28';
    assert.equal(await page.textContent('#device-cloud-limits-error'), noLimit);
    assert.ok(await page.isVisible(`${LIMITS}.input-error`));
    await here.editor.picture('type-wrong');
    await closeDialog(here.editor, 'cancel');
  });

  it('tries pairs, and shows units as they are typed', async () => {
    const { page } = here.editor;
    await openDialog(here.editor, 'type');
    await page.selectOption(DECODE, 'pairs');
    assert.equal(await page.isVisible(BYTES), false);
    await page.selectOption('#device-cloud-try-source', 'text');
    await fill(here.editor, TYPED, 'temperature: 21.5, door: open');
    await results('temperature: 21.5 °C', 'door: open');
    await fill(here.editor, TYPED, 'temperature 21.5');
    await results('There is no : in temperature 21.5.');
    await fill(here.editor, UNITS, 'temperature: K, door: %');
    await fill(here.editor, TYPED, 'temperature: 21.5');
    await results('temperature: 21.5 K');
    await fill(here.editor, UNITS, 'temperature K');
    assert.ok(await page.isVisible(`${UNITS}.input-error`));
    await fill(here.editor, UNITS, 'temperature: K');
    await page.selectOption('#device-cloud-try-source', 'latest');
    await here.editor.picture('type-latest');
    await page.click('#device-cloud-try-device');
    await page.waitForSelector('.red-ui-autoComplete-container:visible li');
    await page.keyboard.press('Escape');
    await closeDialog(here.editor);
    const saved = await exported(here.editor, 'type');
    assert.deepEqual(
      [saved['decode'], saved['equals'], saved['pins']],
      ['pairs', ':', 'valve: 5, lamp: 12 low'],
    );
  });

  it('completes the names of pins and the keys of callbacks', async () => {
    const { page } = here.editor;
    for (const [id, property, names] of [
      ['gpio-named', 'pin', ['valve', 'lamp']],
      ['rt-status', 'key', ['temperature', 'rssi']],
    ] as const) {
      await openDialog(here.editor, id === 'gpio-named' ? 'gpio' : id);
      await here.editor.run(`void $('#node-input-${property}').typedInput('type', 'str')`);
      const input = page
        .locator(`#node-input-${property} ~ .red-ui-typedInput-container input`)
        .first();
      await input.fill('');
      await input.press('ArrowDown');
      await page.waitForSelector('.red-ui-autoComplete-container a:visible');
      const shown = await page
        .locator('.red-ui-autoComplete-container a:visible')
        .allTextContents();
      assert.deepEqual(shown, names);
      await page.keyboard.press('Escape');
      await closeDialog(here.editor, 'cancel');
    }
  });
});
