import { readCallbacks, readPins, type TypeConfig } from '../type/type.config';
import type { EditorNode } from '../common/editor/red';
import { appPath, postRoute } from '../common/editor/routes';
import { plain, t } from '../common/editor/texts';
import { TYPE_TYPE } from '../common/shared.config';
import { notify, smallButton, tried, WRITE, type Target } from './commands.editor';

/** The type of a device as the editor has it: by its name, which the device book has. */
function typeCalled(name: string | undefined): Partial<TypeConfig> | undefined {
  let found: Partial<TypeConfig> | undefined;
  RED.nodes.eachConfig((node) => {
    const type = node as EditorNode<TypeConfig & { name: string }>;
    if (type.type === TYPE_TYPE && type.name === name) found = type;
  });
  return found;
}

/** What a device has by its type: a switch for each pin, and the value of each callback on demand. */
export class Controls {
  readonly element = $('<div>', { class: 'device-cloud-fleet-controls' });
  readonly #target: () => Target | undefined;
  #shown = '';

  constructor(target: () => Target | undefined) {
    this.#target = target;
  }

  /** @param device its key @param type of it. What has the focus keeps it, unless the device or its type changes. */
  show(device: string, type: string | undefined): void {
    const { pins: pinText = '', callbacks = '' } = typeCalled(type) ?? {};
    const shown = JSON.stringify([device, pinText, callbacks]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const read = readPins(pinText);
    const pins = 'pins' in read ? [...read.pins] : [];
    this.element.empty().append(
      pins.map(([name, { pin, isLow }]) =>
        this.#row(
          name,
          this.#button(name, 'on', () => this.#set(pin, isLow ? 0 : 1)),
          this.#button(name, 'off', () => this.#set(pin, isLow ? 1 : 0)),
        ),
      ),
      readCallbacks(callbacks).map((key) => {
        const value = $('<output>');
        return this.#row(
          key,
          this.#button(key, 'read', () => this.#ask(key, value)),
          value,
        );
      }),
    );
  }

  #button(of: string, what: 'on' | 'off' | 'read', run: () => Promise<void>): JQuery {
    const words = t(`action.${what}`);
    const button = smallButton('', words, `${of}: ${words}`, () => void run(), WRITE);
    return button.attr('data-action', what);
  }

  #row(name: string, ...parts: JQuery[]): JQuery {
    return $('<div>').append($('<span>').text(name), ...parts);
  }

  async #set(pin: number, level: 0 | 1): Promise<void> {
    const device = this.#target();
    if (!device) return;
    const values = { device: device.name, pin, level };
    await tried(`${device.name} · ${t('command.gpio', values)}`, async () => {
      await postRoute(appPath(device.app, 'devices', device.chipid, 'gpio'), { pin, level });
      notify(t('done.gpio', values), 'success');
    });
  }

  async #ask(key: string, value: JQuery): Promise<void> {
    const device = this.#target();
    if (!device) return;
    value.text('');
    await tried(`${device.name} · ${key}`, async () => {
      const path = appPath(device.app, 'devices', device.chipid, 'value');
      const answer = (await postRoute(path, { key })) as { value?: unknown };
      value.text(plain(String(answer.value)));
    });
  }
}
