import { t } from '../common/editor/catalogue';
import { isClustered } from '../common/editor/clustered';
import { chipidsProperty, listed, prepareList } from '../common/editor/device-list';
import { current, field, onChange, opened, show } from '../common/editor/form';
import {
  appProperty,
  labelOf,
  labelStyle,
  selectOnlyApp,
  type Named,
} from '../common/editor/properties';
import type { EditorNode } from '../common/editor/red';
import { oneOf, orDefault, seconds, validator } from '../common/editor/validators';
import type { LISTEN_TYPE, ListenConfig } from './listen.config';
import { deliverError, recoverError, shardError } from './processes.editor';
import { translateStatuses } from './translate-status.editor';

type Config = Required<ListenConfig> & Named & { inputs: number };
type Node = EditorNode<Config>;

const mode = (node: Node): string => current(node, 'devices');

function labelText(node: Node): string {
  if (node.devices === 'online' || node.devices === 'dynamic') return t(`node.${node.devices}`);
  const chipids = node.chipids ?? [];
  if (chipids.length === 0) return t('node.none');
  if (chipids.length === 1) return t('node.one', { chipid: chipids[0] });
  return t('node.several', { number: chipids.length });
}

/** Only what applies to the application, and what is set in spite of that. */
function adaptProcesses(node: Node): void {
  const clustered = isClustered(node);
  show('#deliver-row', clustered || current(node, 'deliver') === 'queue');
  show('#shard-row', !clustered || current(node, 'shard') !== '');
}

/** Whether the node shares its devices or its uploads with other processes. */
const isShared = (node: Node): boolean => Boolean(node.shard) || node.deliver === 'queue';

RED.nodes.registerType<Config>('device-cloud-listen' satisfies typeof LISTEN_TYPE, {
  category: 'device cloud',
  categoryDescription: `${CATALOGUE}:palette.description`,
  color: '#a58bf0',
  icon: 'device-cloud-listen.svg',
  inputs: 0,
  outputs: 1,
  defaults: {
    name: { value: '' },
    app: appProperty(),
    devices: {
      value: 'list',
      label: t('common.label.devices'),
      validate: validator(orDefault(oneOf('list', 'online', 'dynamic'))),
    },
    chipids: chipidsProperty(),
    refresh: {
      value: 60,
      label: t('common.label.refresh'),
      validate: validator<Config>(orDefault(seconds(1, 86_400)), (node) => mode(node) === 'online'),
    },
    datatype: { value: 'auto-detect' },
    recover: {
      value: 'reconnect',
      label: t('label.recover'),
      validate: validator<Config>(recoverError),
    },
    shard: { value: '', label: t('label.shard'), validate: validator<Config>(shardError) },
    deliver: {
      value: 'here',
      label: t('label.deliver'),
      validate: validator<Config>(deliverError),
    },
    // The editor draws as many inputs as this property says: one when messages control the listener.
    inputs: { value: 0 },
  },
  paletteLabel: t('paletteLabel'),
  label: function () {
    return labelOf(this.name, labelText(this));
  },
  labelStyle,
  inputLabels: t('input'),
  outputLabels: t('output'),
  onadd: selectOnlyApp,
  oneditprepare: function () {
    opened(this);
    prepareList(this.chipids?.length ? this.chipids : [''], () =>
      field('devices').trigger('change'),
    );
    onChange(['devices'], () => {
      field('inputs').val(mode(this) === 'dynamic' ? 1 : 0);
      show('#list-row', mode(this) === 'list');
      show('#refresh-row', mode(this) === 'online');
      show('#dynamic-note', mode(this) === 'dynamic');
    });
    onChange(['app', 'recover'], () => {
      const clustered = isClustered(this);
      show('#context-note', !clustered && current(this, 'recover') === 'restart');
      show('#cluster-note', clustered);
    });
    onChange(['app', 'shard', 'deliver'], () => adaptProcesses(this));
    $('#device-cloud-advanced').prop('open', isShared(this));
  },
  oneditsave: function () {
    this.chipids = listed();
  },
});

translateStatuses('device-cloud-listen' satisfies typeof LISTEN_TYPE);
