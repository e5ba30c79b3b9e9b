import { t } from '../common/editor/texts';
import { current, fieldValue } from '../common/editor/form';
import type { EditorNode } from '../common/editor/red';
import type { ClusterConfig } from './cluster.config';

type Node = EditorNode<ClusterConfig>;

/** Variables are accepted as they are: their values are not known here. */
const VARIABLE = /\$\{[^{}\s]+\}/g;

const partsOf = (text: string): string[] => text.split(',').map((part) => part.trim());

/** How the engine is found. It is not saved, since it follows from whether Sentinels are given. */
export const kindField = (): JQuery => $('#device-cloud-cluster-kind');

function isOpen(node: Node): boolean {
  const form = kindField().closest('form');
  return form.length > 0 && form.data('editing') === node.id;
}

/** Whether the engine is found through Sentinels: as the open form has it, else as saved. */
export function bySentinels(node: Node): boolean {
  if (isOpen(node)) return fieldValue(kindField()) === 'sentinels';
  return current(node, 'sentinels') !== '';
}

export const byUrl = (node: Node): boolean => !bySentinels(node);

function parse(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function oneUrlError(text: string): string | undefined {
  // A port or the number of a database, too, may be a variable.
  const url = parse(text.replace(VARIABLE, '1'));
  if (!url || !/^rediss?:$/.test(url.protocol) || url.hostname === '') return t('error.url');
  if (url.username !== '' || url.password !== '') return t('error.user');
  const isPlain = /^(\/\d{0,4})?$/.test(url.pathname) && url.search === '' && url.hash === '';
  return isPlain ? undefined : t('error.url');
}

/** The address of a node: one written by hand may have Sentinels as well, which its form would not save. */
export function addressError(value: string, node: Node): string | undefined {
  if (byUrl(node)) return urlError(value);
  return isOpen(node) || value.trim() === '' ? undefined : t('error.both');
}

/** Addresses, by the rules of the library. A password in one would be saved where all can read it. */
function urlError(value: string): string | undefined {
  if (value.trim() === '') return t('common.error.blank');
  if (/^\$\{[^{}\s]+\}$/.test(value.trim())) return undefined;
  const urls = partsOf(value);
  const wrong = urls.map(oneUrlError).find((error) => error !== undefined);
  if (wrong !== undefined) return wrong;
  const schemes = new Set(urls.map((url) => url.split(':')[0]));
  return schemes.size > 1 ? t('error.mixed') : undefined;
}

export function sentinelsError(value: string): string | undefined {
  if (value.trim() === '') return t('common.error.blank');
  const isHost = (text: string): boolean => {
    const url = parse(`redis://${text.replace(VARIABLE, '1')}`);
    return url !== undefined && url.hostname !== '' && url.username === '' && url.pathname === '';
  };
  return partsOf(value).every(isHost) ? undefined : t('error.sentinel');
}

/** Finds invalid settings in the form, before they are tried. */
export function invalidSettings(node: Node, typed: (property: string) => string): string[][] {
  const found: [property: string, error: string | undefined][] = bySentinels(node)
    ? [
        ['sentinels', sentinelsError(typed('sentinels'))],
        ['master', typed('master') === '' ? t('common.error.blank') : undefined],
      ]
    : [['url', urlError(typed('url'))]];
  return found.flatMap(([property, error]) =>
    error === undefined ? [] : [[t(`label.${property}`), error]],
  );
}
