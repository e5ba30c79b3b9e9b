import * as devices from '../common/editor/device-rows';
import * as rows from '../common/editor/rows';
import { dateType, nowType, typed } from '../common/editor/typed-input';
import type { EditorNode } from '../common/editor/red';
import { t } from '../common/editor/texts';
import { CHOICES, DEFAULTS, type HistoryConfig } from './history.config';

type Config = HistoryConfig & rows.Named;
type Node = EditorNode<Config>;

/** Whether uploads are decoded: only then a type of the devices matters. */
const decodes = (node: Node): boolean =>
  rows.current(node, 'operation') !== 'pushes' && rows.current(node, 'datatype') !== 'raw';

const syncs = (node: Node): boolean => rows.current(node, 'operation') === 'sync';

/** A day typed by hand, `YYYYMMDD` or ISO text: the rest is for the run time to judge. */
function dateError(value: string): string | undefined {
  const day = /^(\d{4})(\d{2})(\d{2})$/.exec(value)?.slice(1).join('-') ?? value;
  const right = /^\d{4}-\d{2}-\d{2}(T.*)?$/.test(day) && !Number.isNaN(Date.parse(day));
  return right ? undefined : t('error.date');
}

const dates = () => ['msg', dateType(dateError), nowType()];

RED.nodes.registerType<Config>('device-cloud-history', {
  category: 'device cloud',
  categoryDescription: rows.categoryDescription,
  labelStyle: rows.labelStyle,
  onadd: rows.onadd,
  paletteLabel: t('paletteLabel'),
  color: '#a58bf0',
  icon: 'device-cloud-history.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: rows.name,
    app: rows.app(),
    deviceType: rows.typeOfDevices(),
    chipid: devices.chipid<Config>((node) => !syncs(node)),
    chipidType: devices.chipidType,
    operation: rows.choice(DEFAULTS.operation, 'common.label.operation', CHOICES.operation),
    begin: typed<Config>(DEFAULTS.begin, 'label.begin', 'beginType', dates, syncs),
    beginType: { value: DEFAULTS.beginType },
    end: typed<Config>(DEFAULTS.end, 'label.end', 'endType', dates, syncs),
    endType: { value: DEFAULTS.endType },
    datatype: rows.choice(DEFAULTS.datatype, 'common.label.datatype', CHOICES.datatype),
    split: rows.flag(DEFAULTS.split, 'label.split'),
    incremental: rows.flag(DEFAULTS.incremental, 'label.incremental'),
  },
  label: function () {
    const operation = this.operation ?? 'uploads';
    const device = operation === 'sync' ? '' : devices.fixedDevice(this);
    const text = operation === 'uploads' ? t('paletteLabel') : t(`node.${operation}`);
    return rows.labelOf(this.name, text, device);
  },
  oneditprepare: function () {
    rows.opened(this);
    rows.onChange(['operation', 'datatype'], () => rows.show('#type-section', decodes(this)));
  },
});
