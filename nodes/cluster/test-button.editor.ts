import { said } from '../common/editor/catalogue';
import type { EditorNode } from '../common/editor/red';
import { TestForm, testSettings, type ResultRow } from '../common/editor/test-form';
import type { ClusterConfig } from './cluster.config';
import { bySentinels, invalidSettings } from './cluster-rules.editor';
import { readAnswer, resultRows } from './test-result.editor';

type Node = EditorNode<ClusterConfig>;

const form = new TestForm('.device-cloud-cluster');
const typed = (property: string): string => form.typed(property);

/** Those of the other way to find the engine are not saved, and not tried. */
function settings(node: Node): Record<string, unknown> {
  const found = bySentinels(node)
    ? { url: '', sentinels: typed('sentinels'), master: typed('master') }
    : { url: typed('url'), sentinels: '', master: '' };
  const credentials = form.credentials(['user', 'password']);
  return { id: node.id, ...found, lease: typed('lease'), tls: form.chosen('tls'), credentials };
}

async function test(node: Node): Promise<ResultRow[]> {
  const invalid = invalidSettings(node, typed);
  if (invalid.length > 0)
    return invalid.map(([setting = '', error = '']) => ({
      icon: 'fa-times',
      text: said(setting, error),
    }));
  return testSettings('clusters/test', settings(node), (body) => resultRows(readAnswer(body)));
}

/** Makes the button test what is typed, before it is saved or deployed. */
export function prepareTest(node: Node): void {
  form.prepare(() => test(node));
}
