import { chipidsProperty, listed, listLabel } from '../common/editor/device-list';
import * as devices from '../common/editor/device-rows';
import * as rows from '../common/editor/rows';
import type { EditorNode } from '../common/editor/red';
import { said, t } from '../common/editor/texts';
import { readList } from '../common/shared.config';
import { CHOICES, DEFAULTS, KINDS, LIMITS, type EventsConfig, type Kind } from './events.config';

type Config = EventsConfig & rows.Named;
type Node = EditorNode<Config>;

const box = (kind: Kind): JQuery => $(`#device-cloud-events-${kind}`);
const isChecked = (kind: Kind): boolean => box(kind).prop('checked') === true;

const saved = (node: Node): readonly unknown[] => readList(node.events ?? DEFAULTS.events) ?? [];

/** Whether a node asks for a kind of events: as the open form says, else as saved. */
const asksFor = (node: Node, kind: Kind): boolean =>
  rows.isOpen(node, box(kind)) ? isChecked(kind) : saved(node).includes(kind);

const ofPresence = (node: Node): boolean => asksFor(node, 'presence');

RED.nodes.registerType<Config>('device-cloud-events', {
  category: 'device cloud',
  categoryDescription: rows.categoryDescription,
  labelStyle: rows.labelStyle,
  onadd: rows.onadd,
  paletteLabel: t('paletteLabel'),
  color: '#a58bf0',
  icon: 'device-cloud-events.svg',
  inputs: 0,
  outputs: 1,
  defaults: {
    name: rows.name,
    app: rows.app(),
    devices: rows.choice(DEFAULTS.devices, 'common.label.devices', CHOICES.devices),
    chipids: chipidsProperty(),
    group: devices.group,
    events: {
      value: DEFAULTS.events,
      label: t('label.events'),
      validate(_value, options) {
        const some = KINDS.some((kind) => asksFor(this, kind));
        return some || said(options.label ?? '', t('common.error.no-device'));
      },
    },
    refresh: rows.limited(DEFAULTS.refresh, 'common.label.refresh', LIMITS.refresh),
    misses: rows.limited(DEFAULTS.misses, 'label.misses', LIMITS.misses, ofPresence),
    silence: rows.limited(DEFAULTS.silence, 'label.silence', LIMITS.silence, ofPresence),
    settle: rows.limited<Config>(DEFAULTS.settle, 'label.settle', LIMITS.settle, (node) =>
      asksFor(node, 'channel'),
    ),
    start: rows.choice(DEFAULTS.start, 'label.start', CHOICES.start),
  },
  label: function () {
    const fixed = this.devices === 'list' ? listLabel(this) : t('common.devices.all');
    const shown = this.devices === 'group' ? devices.groupLabel(this.group) : fixed;
    return rows.labelOf(this.name, t('paletteLabel'), shown);
  },
  oneditprepare: function () {
    rows.opened(this);
    for (const kind of KINDS) box(kind).prop('checked', saved(this).includes(kind));
    const adapt = (): void => {
      const silence = isChecked('presence') && Number(rows.fieldValue(rows.field('silence'))) > 0;
      rows.show(
        '#channel-note',
        silence || KINDS.some((kind) => kind !== 'presence' && isChecked(kind)),
      );
    };
    for (const kind of KINDS) box(kind).on('change', adapt);
    rows.onChange(['silence'], adapt);
  },
  oneditsave: function () {
    this.chipids = listed();
    this.events = KINDS.filter(isChecked);
  },
});
