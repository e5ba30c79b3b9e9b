import { t } from '../common/editor/texts';
import { current, field, isClustered, onChange, opened, show } from '../common/editor/form';
import { chipidsProperty, listed, prepareList } from '../common/editor/device-list';
import {
  appProperty,
  categoryDescription,
  labelOf,
  labelStyle,
  type Named,
  selectOnlyApp,
} from '../common/editor/properties';
import type { EditorNode } from '../common/editor/red';
import { oneOf, orDefault, seconds, validator } from '../common/editor/fields';
import {
  DEFAULTS,
  MOST_SHARDS,
  readProcessesText,
  SHARD_FORM,
  type LISTEN_TYPE,
  type ListenConfig,
} from './listen.config';

type Config = ListenConfig & Named & { inputs: number };
type Node = EditorNode<Config>;

/** An application that shares its devices keeps their positions in the cluster, which needs recovery. */
const recoverError = (value: string, node: Node): string | undefined =>
  value === 'off' && isClustered(node)
    ? t('error.recover')
    : orDefault(oneOf('off', 'reconnect', 'restart'))(value);

const VARIABLE = /\$\{[^{}\s]+\}/g;

/** Whether a text is a share such as `0/3`, as far as that can be said with variables in it. */
function isShard(text: string): boolean {
  const [whole, index, count] = SHARD_FORM.exec(text.replace(VARIABLE, '1')) ?? [];
  if (whole === undefined) return false;
  if (text.search(VARIABLE) >= 0) return true;
  return Number(index) < Number(count) && Number(count) <= MOST_SHARDS;
}

function shardError(value: string, node: Node): string | undefined {
  const text = value.trim();
  if (text === '') return undefined;
  if (isClustered(node)) return t('error.shard-cluster');
  return isShard(text) ? undefined : t('error.shard');
}

const deliverError = (value: string, node: Node): string | undefined =>
  value === 'queue' && !isClustered(node)
    ? t('error.no-cluster')
    : orDefault(oneOf('here', 'queue'))(value);

/**
 * Puts the statuses of listeners whose devices are shared into the reader's language. Node-RED looks up a status only
 * as a whole and only if it begins with a letter. It gets the same object after this, since its own subscription
 * is made once the flows are loaded.
 */
function translateStatuses(type: string): void {
  RED.comms.subscribe('status/#', (topic, data) => {
    const node = RED.nodes.node(topic.slice('status/'.length));
    const status = data as { text?: unknown };
    const found = node?.type === type ? readProcessesText(status.text) : undefined;
    if (!found) return;
    status.text = t(found.number === 1 ? 'status.processes-one' : 'status.processes-several', {
      ...found,
    });
  });
}

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
  categoryDescription,
  labelStyle,
  onadd: selectOnlyApp,
  paletteLabel: t('paletteLabel'),
  outputLabels: t('output'),
  color: '#a58bf0',
  icon: 'device-cloud-listen.svg',
  inputs: 0,
  outputs: 1,
  defaults: {
    name: { value: '' },
    app: appProperty(),
    devices: {
      value: DEFAULTS.devices,
      label: t('common.label.devices'),
      validate: validator(orDefault(oneOf('list', 'online', 'dynamic'))),
    },
    chipids: chipidsProperty(),
    refresh: {
      value: DEFAULTS.refresh,
      label: t('common.label.refresh'),
      validate: validator<Config>(orDefault(seconds(1, 86_400)), (node) => mode(node) === 'online'),
    },
    datatype: { value: DEFAULTS.datatype },
    recover: {
      value: DEFAULTS.recover,
      label: t('label.recover'),
      validate: validator<Config>(recoverError),
    },
    shard: {
      value: DEFAULTS.shard,
      label: t('label.shard'),
      validate: validator<Config>(shardError),
    },
    deliver: {
      value: DEFAULTS.deliver,
      label: t('label.deliver'),
      validate: validator<Config>(deliverError),
    },
    // The editor draws as many inputs as this property says: one when messages control the listener.
    inputs: { value: 0 },
  },
  label: function () {
    return labelOf(this.name, labelText(this));
  },
  inputLabels: t('input'),
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
