import * as devices from '../common/editor/device-rows';
import * as messages from '../common/editor/message-rows';
import * as rows from '../common/editor/rows';
import type { EditorNode } from '../common/editor/red';
import { t } from '../common/editor/texts';
import { CHOICES, DEFAULTS, type PushConfig } from './push.config';

type Config = PushConfig & rows.Named;
type Node = EditorNode<Config>;

const toDevice = (node: Node): boolean => rows.current(node, 'target') !== 'app';
const overChannel = (node: Node): boolean =>
  toDevice(node) && rows.current(node, 'transport') === 'channel';

/** Where a push goes, in one choice: `target` and `many` together are saved. */
const to = (): JQuery => $('#device-cloud-to');

function saveTo(): void {
  const chosen = rows.fieldValue(to());
  rows.field('target').val(chosen === 'app' ? 'app' : 'device');
  rows.field('many').prop('checked', chosen === 'many');
  rows.field('target').trigger('change');
  rows.field('many').trigger('change');
}

/** A push over the channel is sent when the channel is there. */
const mayWait = (node: Node): boolean => toDevice(node) && !overChannel(node);

const formatError = (format: string, node: Node): string | undefined =>
  overChannel(node) && (format === 'AT' || format === 'LUA')
    ? t('error.channel-format')
    : undefined;

RED.nodes.registerType<Config>('device-cloud-push', {
  category: 'device cloud',
  categoryDescription: rows.categoryDescription,
  labelStyle: rows.labelStyle,
  onadd: rows.onadd,
  paletteLabel: t('paletteLabel'),
  color: '#a58bf0',
  icon: 'device-cloud-push.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: rows.name,
    app: rows.app(),
    chipid: devices.chipids<Config>(toDevice),
    chipidType: devices.chipidType,
    // Its row is that of the target.
    many: { ...devices.many, applies: () => true },
    atOnce: devices.atOnce<Config>(toDevice),
    when: devices.when<Config>(mayWait),
    expires: devices.expires<Config>(mayWait),
    replace: devices.replace<Config>(mayWait),
    target: rows.choice(DEFAULTS.target, 'label.target', CHOICES.target),
    transport: rows.choice(DEFAULTS.transport, 'label.transport', CHOICES.transport, toDevice),
    format: messages.format<Config>(formatError),
    message: messages.message<Config>(),
    messageType: messages.messageType,
    timeout: rows.timeout(),
  },
  label: function () {
    const toAll = this.target === 'app';
    const { format } = this;
    const toOne = format === 'msg' ? t('paletteLabel') : t('node.push', { format });
    const text = toAll
      ? t(format === 'msg' ? 'node.push-app-msg' : 'node.push-app', { format })
      : toOne;
    return rows.labelOf(this.name, text, toAll ? '' : devices.fixedDevice(this));
  },
  oneditprepare: function () {
    rows.opened(this);
    const toOne = rows.ticked(this, 'many') ? 'many' : 'device';
    to()
      .val(toDevice(this) ? toOne : 'app')
      .on('change', saveTo);
    rows.onChange(['target', 'transport'], () => {
      rows.show('#app-note', !toDevice(this));
      // A flow written by hand may have a push to all that says `many`.
      if (!toDevice(this)) rows.show('#many-note', false);
      rows.show('#channel-note', overChannel(this));
      const commands = rows.field('format').find('[value=AT], [value=LUA]');
      commands.prop('disabled', overChannel(this));
      // The chosen format may have become valid, or invalid.
      rows.field('format').trigger('change');
    });
  },
  oneditsave: function () {
    // A channel belongs to one device: the hidden choice must not prevent a push to all.
    if (!toDevice(this)) rows.field('transport').val('http');
  },
});
