import { choice } from '../common/editor/fields';
import { current, field, fieldValue, onChange, opened, show, ticked } from '../common/editor/form';
import * as shared from '../common/editor/properties';
import type { EditorNode } from '../common/editor/red';
import { t } from '../common/editor/texts';
import { CHOICES, DEFAULTS, type PushConfig } from './push.config';

type Config = PushConfig & shared.Named;
type Node = EditorNode<Config>;

const toDevice = (node: Node): boolean => current(node, 'target') !== 'app';
const overChannel = (node: Node): boolean =>
  toDevice(node) && current(node, 'transport') === 'channel';

/** Where a push goes, in one choice: `target` and `many` together are saved. */
const to = (): JQuery => $('#device-cloud-to');

function saveTo(): void {
  const chosen = fieldValue(to());
  field('target').val(chosen === 'app' ? 'app' : 'device');
  field('many').prop('checked', chosen === 'many');
  field('target').trigger('change');
  field('many').trigger('change');
}

/** A push over the channel is sent when the channel is there. */
const mayWait = (node: Node): boolean => toDevice(node) && !overChannel(node);

const formatError = (format: string, node: Node): string | undefined =>
  overChannel(node) && (format === 'AT' || format === 'LUA')
    ? t('error.channel-format')
    : undefined;

RED.nodes.registerType<Config>('device-cloud-push', {
  category: 'device cloud',
  categoryDescription: shared.categoryDescription,
  labelStyle: shared.labelStyle,
  onadd: shared.onadd,
  paletteLabel: t('paletteLabel'),
  color: '#a58bf0',
  icon: 'device-cloud-push.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: shared.name,
    app: shared.app(),
    chipid: shared.chipids<Config>(toDevice),
    chipidType: shared.chipidType,
    // Its row is that of the target.
    many: { ...shared.many, applies: () => true },
    atOnce: shared.atOnce<Config>(toDevice),
    when: shared.when<Config>(mayWait),
    expires: shared.expires<Config>(mayWait),
    replace: shared.replace<Config>(mayWait),
    target: choice(DEFAULTS.target, 'label.target', CHOICES.target),
    transport: choice(DEFAULTS.transport, 'label.transport', CHOICES.transport, toDevice),
    format: shared.format<Config>(formatError),
    message: shared.message<Config>(),
    messageType: shared.messageType,
    timeout: shared.timeout(),
  },
  label: function () {
    const toAll = this.target === 'app';
    const { format } = this;
    const toOne = format === 'msg' ? t('paletteLabel') : t('node.push', { format });
    const text = toAll
      ? t(format === 'msg' ? 'node.push-app-msg' : 'node.push-app', { format })
      : toOne;
    return shared.labelOf(this.name, text, toAll ? '' : shared.fixedDevice(this));
  },
  oneditprepare: function () {
    opened(this);
    const toOne = ticked(this, 'many') ? 'many' : 'device';
    to()
      .val(toDevice(this) ? toOne : 'app')
      .on('change', saveTo);
    onChange(['target', 'transport'], () => {
      show('#app-note', !toDevice(this));
      // A flow written by hand may have a push to all that says `many`.
      if (!toDevice(this)) show('#many-note', false);
      show('#channel-note', overChannel(this));
      const commands = field('format').find('[value=AT], [value=LUA]');
      commands.prop('disabled', overChannel(this));
      // The chosen format may have become valid, or invalid.
      field('format').trigger('change');
    });
  },
  oneditsave: function () {
    // A channel belongs to one device: the hidden choice must not prevent a push to all.
    if (!toDevice(this)) field('transport').val('http');
  },
});
