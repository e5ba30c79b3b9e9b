import { said, t } from '../common/editor/texts';
import { chipidsProperty, listed, prepareList } from '../common/editor/device-list';
import { current, field, fieldValue, onChange, opened, show } from '../common/editor/form';
import {
  appProperty,
  categoryDescription,
  labelOf,
  labelStyle,
  type Named,
  selectOnlyApp,
} from '../common/editor/properties';
import type { EditorNode, PropertyDefinition } from '../common/editor/red';
import { oneOf, orDefault, seconds, validator, wholeNumber } from '../common/editor/fields';
import { DEFAULTS, KINDS, LIMITS, type EventsConfig, type Kind } from './events.config';

type Config = EventsConfig & Named;
type Node = EditorNode<Config>;

const box = (kind: Kind): JQuery => $(`#device-cloud-events-${kind}`);
const isChecked = (kind: Kind): boolean => box(kind).prop('checked') === true;

/** Whether a node asks for a kind of events: what the form says while it is open, else what is saved. */
function asksFor(node: Node, kind: Kind): boolean {
  const form = box(kind).closest('form');
  if (form.length > 0 && form.data('editing') === node.id) return isChecked(kind);
  return (node.events ?? DEFAULTS.events).includes(kind);
}

function numberProperty(
  name: keyof typeof LIMITS,
  needed: (node: Node) => boolean,
): PropertyDefinition<Config, number | string> {
  const { min, max } = LIMITS[name];
  const check = name === 'misses' ? wholeNumber(min, max) : seconds(min, max);
  const validate = validator<Config>(orDefault(check), needed);
  return { value: DEFAULTS[name], label: t(`label.${name}`), validate };
}

function labelText({ devices, chipids = [] }: Node): string {
  if (devices !== 'list') return t('node.all');
  if (chipids.length === 0) return t('node.none');
  if (chipids.length === 1) return t('node.one', { chipid: chipids[0] });
  return t('node.several', { number: chipids.length });
}

RED.nodes.registerType<Config>('device-cloud-events', {
  category: 'device cloud',
  categoryDescription,
  labelStyle,
  onadd: selectOnlyApp,
  paletteLabel: t('paletteLabel'),
  outputLabels: t('output'),
  color: '#a58bf0',
  icon: 'device-cloud-events.svg',
  inputs: 0,
  outputs: 1,
  defaults: {
    name: { value: '' },
    app: appProperty(),
    devices: {
      value: DEFAULTS.devices,
      label: t('common.label.devices'),
      validate: validator(orDefault(oneOf('all', 'list'))),
    },
    chipids: chipidsProperty(),
    events: {
      value: DEFAULTS.events,
      label: t('label.events'),
      validate(_value, options) {
        const some = KINDS.some((kind) => asksFor(this, kind));
        return some || said(options.label ?? '', t('error.no-event'));
      },
    },
    refresh: numberProperty('refresh', () => true),
    misses: numberProperty('misses', (node) => asksFor(node, 'presence')),
    silence: numberProperty('silence', (node) => asksFor(node, 'presence')),
    settle: numberProperty('settle', (node) => asksFor(node, 'channel')),
    start: {
      value: DEFAULTS.start,
      label: t('label.start'),
      validate: validator(orDefault(oneOf('none', 'current'))),
    },
  },
  label: function () {
    return labelOf(this.name, labelText(this));
  },
  oneditprepare: function () {
    opened(this);
    for (const kind of KINDS)
      box(kind).prop('checked', (this.events ?? DEFAULTS.events).includes(kind));
    prepareList(this.chipids?.length ? this.chipids : [''], () =>
      field('devices').trigger('change'),
    );
    onChange(['devices'], () => show('#list-row', current(this, 'devices') === 'list'));
    const adapt = (): void => {
      show('#misses-row, #silence-row', isChecked('presence'));
      show('#settle-row', isChecked('channel'));
      const silence = isChecked('presence') && Number(fieldValue(field('silence'))) > 0;
      show('#channel-note', silence || isChecked('channel') || isChecked('recovery'));
    };
    for (const kind of KINDS) box(kind).on('change', adapt);
    onChange(['silence'], adapt);
    onChange(['start'], () => show('#state-note', current(this, 'start') !== 'current'));
  },
  oneditsave: function () {
    this.chipids = listed();
    this.events = KINDS.filter(isChecked);
  },
});
