import { t } from '../common/editor/texts';
import {
  appProperty,
  atOnceProperty,
  categoryDescription,
  chipidProperty,
  expiresProperty,
  fixedDevice,
  labelOf,
  labelStyle,
  limitProperty,
  manyProperty,
  type Named,
  prepareDevice,
  prepareMany,
  prepareWhen,
  saveWhen,
  selectOnlyApp,
  timeoutProperty,
  whenProperty,
} from '../common/editor/properties';
import { current, field, fieldValue, onChange, show } from '../common/editor/form';
import { messageError, showMessageNote } from '../common/editor/message';
import type { EditorNode } from '../common/editor/red';
import {
  DYNAMIC,
  oneOf,
  orDefault,
  revalidate,
  stringType,
  typedInput,
  typedValidator,
  validator,
} from '../common/editor/fields';
import { DEFAULTS, type PushConfig } from './push.config';

type Config = PushConfig & Named;
type Node = EditorNode<Config>;

const toDevice = (node: Node): boolean => current(node, 'target') !== 'app';
const overChannel = (node: Node): boolean =>
  toDevice(node) && current(node, 'transport') === 'channel';

/** A push over the channel is sent when the channel is there. */
const mayWait = (node: Node): boolean => toDevice(node) && !overChannel(node);

function formatError(format: string, node: Node): string | undefined {
  if (overChannel(node) && (format === 'AT' || format === 'LUA')) return t('error.channel-format');
  return orDefault(oneOf('MSG', 'HEX', 'AT', 'LUA', 'B64', 'msg'))(format);
}

RED.nodes.registerType<Config>('device-cloud-push', {
  category: 'device cloud',
  categoryDescription,
  labelStyle,
  onadd: selectOnlyApp,
  paletteLabel: t('paletteLabel'),
  outputLabels: t('output'),
  color: '#a58bf0',
  icon: 'device-cloud-push.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: { value: '' },
    app: appProperty(),
    chipid: chipidProperty<Config>(toDevice),
    chipidType: { value: DEFAULTS.chipidType },
    many: manyProperty(),
    limit: limitProperty<Config>(toDevice),
    atOnce: atOnceProperty<Config>(toDevice),
    when: whenProperty<Config>(mayWait),
    expires: expiresProperty<Config>(mayWait),
    target: { value: DEFAULTS.target },
    transport: { value: DEFAULTS.transport },
    format: {
      value: DEFAULTS.format,
      label: t('common.label.format'),
      validate: validator(formatError),
    },
    message: {
      value: DEFAULTS.message,
      label: t('common.label.message'),
      validate: typedValidator('messageType', { str: messageError }),
    },
    messageType: { value: DEFAULTS.messageType },
    timeout: timeoutProperty(),
  },
  label: function () {
    const toAll = this.target === 'app';
    const key = `node.${toAll ? 'push-app' : 'push'}${this.format === 'msg' ? '-msg' : ''}`;
    return labelOf(this.name, t(key, { format: this.format }), toAll ? '' : fixedDevice(this));
  },
  oneditprepare: function () {
    prepareDevice(this);
    const text = stringType((value) => messageError(value, this));
    typedInput('message', ['msg', text, 'num', 'bool', 'json', 'bin', ...DYNAMIC]);
    const adaptMany = prepareMany(() => toDevice(this));
    const adaptWhen = prepareWhen(() => mayWait(this));
    onChange(['target', 'transport'], () => {
      adaptMany();
      adaptWhen();
      show('#device-row, #transport-row', toDevice(this));
      show('#app-note', !toDevice(this));
      show('#channel-note', overChannel(this));
      const commands = field('format').find('[value=AT], [value=LUA]');
      commands.prop('disabled', overChannel(this));
      // The chosen format may have become valid, or invalid.
      field('format').trigger('change');
    });
    onChange(['format'], () => {
      show('#format-note', fieldValue(field('format')) === 'msg');
      revalidate('message');
    });
    field('message').on('change', showMessageNote).parent().on('input', showMessageNote);
    showMessageNote();
  },
  oneditsave: function () {
    // A channel belongs to one device: the hidden choice must not prevent a push to all.
    if (!toDevice(this)) field('transport').val('http');
    saveWhen(() => mayWait(this));
  },
});
