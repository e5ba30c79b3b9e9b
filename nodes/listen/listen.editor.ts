import { chipidsProperty, listed, listLabel, prepareList } from '../common/editor/device-list';
import { checked, choice, oneOf, seconds } from '../common/editor/fields';
import { current, field, isClustered, onChange, opened, show } from '../common/editor/form';
import { prepareGroup } from '../common/editor/groups';
import * as shared from '../common/editor/properties';
import type { EditorNode } from '../common/editor/red';
import { t } from '../common/editor/texts';
import {
  DEFAULTS,
  MOST_SHARDS,
  readProcessesText,
  SHARD_FORM,
  type LISTEN_TYPE,
  type ListenConfig,
} from './listen.config';

type Config = ListenConfig & shared.Named & { inputs: number };
type Node = EditorNode<Config>;

/** An application that shares its devices keeps their positions in the cluster, which needs recovery. */
const recoverError = (value: string, node: Node): string | undefined =>
  value === 'off' && isClustered(node)
    ? t('error.recover')
    : oneOf('off', 'reconnect', 'restart')(value);

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
  value === 'queue' && !isClustered(node) ? t('error.no-cluster') : oneOf('here', 'queue')(value);

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

/** Only what applies to the application, and what is set in spite of that. */
function adaptProcesses(node: Node): void {
  const clustered = isClustered(node);
  show('#deliver-row', clustered || current(node, 'deliver') === 'queue');
  show('#shard-row', !clustered || current(node, 'shard') !== '');
}

RED.nodes.registerType<Config>('device-cloud-listen' satisfies typeof LISTEN_TYPE, {
  category: 'device cloud',
  categoryDescription: shared.categoryDescription,
  labelStyle: shared.labelStyle,
  onadd: shared.onadd,
  paletteLabel: t('paletteLabel'),
  outputLabels: t('output'),
  color: '#a58bf0',
  icon: 'device-cloud-listen.svg',
  inputs: 0,
  outputs: 1,
  defaults: {
    name: shared.name,
    version: shared.version,
    app: shared.app(),
    deviceType: shared.typeOfDevices(),
    devices: choice(DEFAULTS.devices, 'common.label.devices', 'list', 'online', 'group', 'dynamic'),
    chipids: chipidsProperty(),
    group: shared.group,
    refresh: checked(
      DEFAULTS.refresh,
      'common.label.refresh',
      seconds(1, 86_400),
      (node) => mode(node) === 'online',
    ),
    datatype: shared.datatype(),
    recover: checked(DEFAULTS.recover, 'label.recover', recoverError),
    shard: checked(DEFAULTS.shard, 'label.shard', shardError),
    deliver: checked(DEFAULTS.deliver, 'label.deliver', deliverError),
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
  inputLabels: t('input'),
  oneditprepare: function () {
    opened(this);
    prepareList(this.chipids);
    prepareGroup();
    onChange(['devices'], () => {
      field('inputs').val(mode(this) === 'dynamic' ? 1 : 0);
      show('#list-row', mode(this) === 'list');
      show('#group-row', mode(this) === 'group');
      show('#refresh-row', mode(this) === 'online');
      show('#dynamic-note', mode(this) === 'dynamic');
    });
    onChange(['app'], () => show('#cluster-note', isClustered(this)));
    onChange(['app', 'shard', 'deliver'], () => adaptProcesses(this));
  },
  oneditsave: function () {
    this.chipids = listed();
  },
});

translateStatuses('device-cloud-listen' satisfies typeof LISTEN_TYPE);
