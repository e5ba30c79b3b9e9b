import { said, t } from '../common/editor/catalogue';
import { explainFailure } from '../common/editor/devices';
import type { EditorNode } from '../common/editor/red';
import { TestForm, type ResultRow } from '../common/editor/test-form';
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
  try {
    const body: unknown = await $.ajax({
      // Neither `/` nor `.` comes first, so that Node-RED adds its root and the bearer token.
      url: 'device-cloud/clusters/test',
      method: 'POST',
      contentType: 'application/json',
      data: JSON.stringify(settings(node)),
    });
    return resultRows(readAnswer(body));
  } catch (failure) {
    const { reason, detail } = explainFailure(failure, {
      permission: 'device-cloud.write',
      forbidden: t('test.forbidden'),
    });
    const row = { icon: 'fa-times', text: said(t('test.failed'), reason) };
    return [detail === undefined ? row : { ...row, detail }];
  }
}

/** Makes the button test what is typed, before it is saved or deployed. */
export function prepareTest(node: Node): void {
  form.prepare(t('test.running'), () => test(node));
}
