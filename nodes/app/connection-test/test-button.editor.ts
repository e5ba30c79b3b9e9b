import { readDevices, rememberDevices } from '../../common/editor/devices';
import { TestForm, testSettings, type ResultRow } from '../../common/editor/test-form';
import { invalidSettings } from '../app-rules.editor';
import { invalidRow, readAnswer, resultRows } from './test-result.editor';

const form = new TestForm('.device-cloud-app:not(.device-cloud-cluster)');
const typed = (property: string): string => form.typed(property);

function settings(id: string): Record<string, unknown> {
  return {
    id,
    service: typed('service'),
    baseUrl: typed('baseUrl'),
    appid: typed('appid'),
    timeout: typed('timeout'),
    timestampUnit: typed('timestampUnit'),
    historyZone: typed('historyZone'),
    charset: typed('charset'),
    postParameters: typed('postParameters'),
    signCase: typed('signCase'),
    tls: form.chosen('tls'),
    proxy: form.chosen('proxy'),
    credentials: form.credentials(['appkey', 'serverKey', 'serverPassword']),
  };
}

async function test(id: string): Promise<ResultRow[]> {
  const sent = settings(id);
  const invalid = sent['service'] === 'simulator' ? [] : invalidSettings(typed);
  // Said here in the reader's language, and without a request that could only fail.
  if (invalid.length > 0) return invalid.map(([setting, error]) => invalidRow(setting, error));
  return testSettings('apps/test', sent, (body) => {
    const answer = readAnswer(body);
    if (answer.openApi?.ok) rememberDevices(id, readDevices(answer.devices));
    const [openKey, serverKey] = [typed('appkey') !== '', typed('serverPassword') !== ''];
    return resultRows(answer, { baseUrl: typed('baseUrl'), openKey, serverKey });
  });
}

/** Makes the button test what is typed, before it is saved or deployed. */
export function prepareTest(id: string): void {
  form.prepare(() => test(id));
}
