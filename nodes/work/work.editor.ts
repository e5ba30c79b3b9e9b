import { checked, choice, seconds, wholeNumber } from '../common/editor/fields';
import { current, onChange, opened, prepareNoCluster, show } from '../common/editor/form';
import * as shared from '../common/editor/properties';
import type { PropertyDefinition } from '../common/editor/red';
import { t } from '../common/editor/texts';
import { DEFAULTS, LIMITS, type WorkConfig } from './work.config';

type Config = WorkConfig & shared.Named;

function limited(name: keyof typeof LIMITS): PropertyDefinition<Config, number | string> {
  const { min, max } = LIMITS[name];
  const check = name === 'redeliver' ? seconds(min, max) : wholeNumber(min, max);
  return checked(DEFAULTS[name], `label.${name}`, check);
}

RED.nodes.registerType<Config>('device-cloud-work', {
  category: 'device cloud',
  categoryDescription: shared.categoryDescription,
  labelStyle: shared.labelStyle,
  onadd: shared.onadd,
  paletteLabel: t('paletteLabel'),
  outputLabels: t('output'),
  color: '#a58bf0',
  icon: 'device-cloud-work.svg',
  inputs: 0,
  outputs: 1,
  defaults: {
    name: shared.name,
    version: shared.version,
    app: shared.app(),
    deviceType: shared.typeOfDevices(),
    datatype: shared.datatype(),
    acknowledge: choice(DEFAULTS.acknowledge, 'label.acknowledge', 'sent', 'ack'),
    inFlight: limited('inFlight'),
    redeliver: limited('redeliver'),
    attempts: limited('attempts'),
  },
  label: function () {
    return shared.labelOf(this.name, t('paletteLabel'));
  },
  oneditprepare: function () {
    opened(this);
    prepareNoCluster(this);
    onChange(['acknowledge'], () => {
      show('#redeliver-row, #attempts-row', current(this, 'acknowledge') === 'ack');
    });
  },
});
