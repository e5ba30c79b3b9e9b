import { chipidsProperty, listed, listLabel } from '../common/editor/device-list';
import { checked, choice, limited, oneOf } from '../common/editor/fields';
import { current, field, onChange, opened, show } from '../common/editor/form';
import * as shared from '../common/editor/properties';
import type { EditorNode } from '../common/editor/red';
import { t } from '../common/editor/texts';
import { CHOICES, DEFAULTS, LIMITS, type LISTEN_TYPE, type ListenConfig } from './listen.config';

type Config = ListenConfig & shared.Named & { inputs: number };
type Node = EditorNode<Config>;

const mode = (node: Node): string => current(node, 'devices');
const waits = (node: Node): boolean => current(node, 'acknowledge') === 'ack';

RED.nodes.registerType<Config>('device-cloud-listen' satisfies typeof LISTEN_TYPE, {
  category: 'device cloud',
  categoryDescription: shared.categoryDescription,
  labelStyle: shared.labelStyle,
  onadd: shared.onadd,
  paletteLabel: t('paletteLabel'),
  color: '#a58bf0',
  icon: 'device-cloud-listen.svg',
  inputs: 0,
  outputs: 1,
  defaults: {
    name: shared.name,
    app: shared.app(),
    deviceType: shared.typeOfDevices(),
    devices: choice(DEFAULTS.devices, 'common.label.devices', CHOICES.devices),
    chipids: chipidsProperty(),
    group: shared.group,
    refresh: limited<Config>(
      DEFAULTS.refresh,
      'common.label.refresh',
      LIMITS.refresh,
      (node) => mode(node) === 'online',
    ),
    datatype: shared.datatype(),
    recover: checked<Config, ListenConfig['recover']>(
      DEFAULTS.recover,
      'label.recover',
      (value, node) =>
        waits(node) && value !== 'restart' ? t('error.recover') : oneOf(...CHOICES.recover)(value),
    ),
    acknowledge: choice(DEFAULTS.acknowledge, 'label.acknowledge', CHOICES.acknowledge),
    redeliver: limited(DEFAULTS.redeliver, 'label.redeliver', LIMITS.redeliver, waits),
    attempts: limited(DEFAULTS.attempts, 'label.attempts', LIMITS.attempts, waits),
    // The editor draws as many inputs as this property says: one when messages control the listener.
    inputs: { value: 0 },
  },
  label: function () {
    if (this.devices === 'group')
      return shared.labelOf(this.name, t('paletteLabel'), shared.groupLabel(this.group));
    const isChosen = this.devices === 'online' || this.devices === 'dynamic';
    const devices = isChosen ? t(`node.${this.devices}`) : listLabel(this);
    return shared.labelOf(this.name, t('paletteLabel'), devices);
  },
  oneditprepare: function () {
    opened(this);
    onChange(['devices'], () => {
      field('inputs').val(mode(this) === 'dynamic' ? 1 : 0);
      show('#dynamic-note', mode(this) === 'dynamic');
    });
  },
  oneditsave: function () {
    this.chipids = listed();
  },
});
