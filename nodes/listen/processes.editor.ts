import { t } from '../common/editor/catalogue';
import { isClustered } from '../common/editor/clustered';
import type { EditorNode } from '../common/editor/red';
import { oneOf, orDefault } from '../common/editor/validators';
import { MOST_SHARDS, SHARD_FORM } from './listen.config';

type Node = EditorNode<{ app: string }>;

/** An application that shares its devices keeps their positions in the cluster, which needs recovery. */
export const recoverError = (value: string, node: Node): string | undefined =>
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

export function shardError(value: string, node: Node): string | undefined {
  const text = value.trim();
  if (text === '') return undefined;
  if (isClustered(node)) return t('error.shard-cluster');
  return isShard(text) ? undefined : t('error.shard');
}

export const deliverError = (value: string, node: Node): string | undefined =>
  value === 'queue' && !isClustered(node)
    ? t('error.no-cluster')
    : orDefault(oneOf('here', 'queue'))(value);
