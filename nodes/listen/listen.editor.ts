import { chipidsProperty, listed, listLabel } from '../common/editor/device-list';
import * as devices from '../common/editor/device-rows';
import * as rows from '../common/editor/rows';
import type { EditorNode } from '../common/editor/red';
import { t } from '../common/editor/texts';
import { CHOICES, DEFAULTS, LIMITS, type LISTEN_TYPE, type ListenConfig } from './listen.config';

type Config = ListenConfig & rows.Named & { inputs: number };
type Node = EditorNode<Config>;

const mode = (node: Node): string => rows.current(node, 'devices');
const waits = (node: Node): boolean => rows.current(node, 'acknowledge') === 'ack';

RED.nodes.registerType<Config>('device-cloud-listen' satisfies typeof LISTEN_TYPE, {
  category: 'device cloud',
  categoryDescription: rows.categoryDescription,
  labelStyle: rows.labelStyle,
  onadd: rows.onadd,
  paletteLabel: t('paletteLabel'),
  color: '#a58bf0',
  icon: 'device-cloud-listen.svg',
  inputs: 0,
  outputs: 1,
  defaults: {
    name: rows.name,
    app: rows.app(),
    deviceType: rows.typeOfDevices(),
    devices: rows.choice(DEFAULTS.devices, 'common.label.devices', CHOICES.devices),
    chipids: chipidsProperty(),
    group: devices.group,
    refresh: rows.limited<Config>(
      DEFAULTS.refresh,
      'common.label.refresh',
      LIMITS.refresh,
      (node) => mode(node) === 'online',
    ),
    datatype: rows.datatype(),
    recover: rows.checked<Config, ListenConfig['recover']>(
      DEFAULTS.recover,
      'label.recover',
      (value, node) =>
        waits(node) && value !== 'restart'
          ? t('error.recover')
          : rows.oneOf(...CHOICES.recover)(value),
    ),
    acknowledge: rows.choice(DEFAULTS.acknowledge, 'label.acknowledge', CHOICES.acknowledge),
    redeliver: rows.limited(DEFAULTS.redeliver, 'label.redeliver', LIMITS.redeliver, waits),
    attempts: rows.limited(DEFAULTS.attempts, 'label.attempts', LIMITS.attempts, waits),
    // The editor draws as many inputs as this property says: one when messages control the listener.
    inputs: { value: 0 },
  },
  label: function () {
    if (this.devices === 'group')
      return rows.labelOf(this.name, t('paletteLabel'), devices.groupLabel(this.group));
    const isChosen = this.devices === 'online' || this.devices === 'dynamic';
    const shown = isChosen ? t(`node.${this.devices}`) : listLabel(this);
    return rows.labelOf(this.name, t('paletteLabel'), shown);
  },
  oneditprepare: function () {
    rows.opened(this);
    rows.onChange(['devices'], () => {
      rows.field('inputs').val(mode(this) === 'dynamic' ? 1 : 0);
      rows.show('#dynamic-note', mode(this) === 'dynamic');
    });
  },
  oneditsave: function () {
    this.chipids = listed();
  },
});
