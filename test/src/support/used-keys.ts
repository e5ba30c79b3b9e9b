import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from '@typescript/typescript6';
import { ERROR_CODES } from '../../../src/errors';
import { repository } from '../../tooling/repository';

/** The keys of message catalogues that the sources of a node name. */
export interface UsedKeys {
  /** Named as a text, so that each of them has to be in the catalogue. */
  named: Set<string>;
  /** Put together while running: what any of them looks like. */
  patterns: RegExp[];
}

/** What can stand in a key that is put together, where it is not a choice of the dialog. */
const VALUES: Record<string, readonly string[]> = {
  'status.': [
    ...[...ERROR_CODES, 'ERROR'].map((code) => code.toLowerCase().replaceAll('_', '-')),
    ...['gateway-502', 'gateway-504'],
  ],
};

/** Node-RED itself looks this one up, for the palette. */
const OF_NODE_RED = ['palette.label.device_cloud'];

/** The beginning of a key: one of the groups that the catalogues have. */
const KEY =
  /^(absent|action|book|channel|cluster|command|common|count|done|error|failed|field|filter|hint|input|kind|label|level|list|node|note|order|output|palette|pin|problem|push|recent|recording|rows|section|state|status|test|try|use|view|waits)\.[a-zA-Z]/;

function literals(node: ts.Expression): string[] {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isParenthesizedExpression(node)) return literals(node.expression);
  if (!ts.isConditionalExpression(node)) return [];
  return [...literals(node.whenTrue), ...literals(node.whenFalse)];
}

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** In the editor, `RED._` asks for Node-RED's own texts. */
const isOfNodeRed = (node: ts.Node): boolean =>
  !node.getSourceFile().fileName.endsWith('.runtime.ts') &&
  ts.isCallExpression(node) &&
  node.expression.getText() === 'RED._';

function read(source: ts.Node, used: UsedKeys): void {
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.getText() === 't' && node.arguments[0]) {
      for (const key of literals(node.arguments[0])) used.named.add(key);
    }
    if (ts.isStringLiteralLike(node) && KEY.test(node.text)) used.named.add(node.text);
    if (ts.isTemplateExpression(node)) template(node, used);
    if (!isOfNodeRed(node)) ts.forEachChild(node, visit);
  };
  visit(source);
}

function template(node: ts.TemplateExpression, used: UsedKeys): void {
  const [first, ...spans] = node.templateSpans;
  const prefix = node.head.text;
  if (prefix === '' && first!.expression.getText() === 'CATALOGUE' && spans.length === 0) {
    used.named.add(first!.literal.text.replace(/^:/, ''));
  }
  if (!KEY.test(`${prefix}x`)) return;
  const known = VALUES[prefix];
  if (known) for (const value of known) used.named.add(`${prefix}${value}`);
  const rest = node.templateSpans.map(({ literal }) => `[\\w-]*${escape(literal.text)}`);
  if (!known) used.patterns.push(new RegExp(`^${escape(prefix)}${rest.join('')}$`));
}

function usedIn(folder: string): UsedKeys {
  const used: UsedKeys = { named: new Set(OF_NODE_RED), patterns: [] };
  for (const file of readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })) {
    const text = (): string => readFileSync(join(repository, folder, file), 'utf8');
    if (file.endsWith('.ts')) {
      read(ts.createSourceFile(file, text(), ts.ScriptTarget.Latest, true), used);
    }
    if (!file.endsWith('.html')) continue;
    for (const [, keys] of text().matchAll(/data-i18n="([^"]+)"/g)) {
      for (const key of keys!.split(';')) used.named.add(key.replace(/^\[[\w-]+\]/, ''));
    }
  }
  return used;
}

/** By folder: the shared ones are looked at for each node. */
const known = new Map<string, UsedKeys>();

/** Reads the sources in folders of the repository: run time, editor and templates. */
export function usedKeys(folders: string[]): UsedKeys {
  const found = folders.map((folder) => {
    const used = known.get(folder) ?? usedIn(folder);
    known.set(folder, used);
    return used;
  });
  return {
    named: new Set(found.flatMap(({ named }) => [...named])),
    patterns: found.flatMap(({ patterns }) => patterns),
  };
}

export const isUsed = (key: string, { named, patterns }: UsedKeys): boolean =>
  named.has(key) || patterns.some((pattern) => pattern.test(key));
