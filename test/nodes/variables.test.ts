import assert from 'node:assert/strict';
import { mapEnvVarProperties } from '@node-red/runtime/lib/flows/util';
import { variableName } from '../../nodes/common/shared.config';

/** The name of the variable that Node-RED looks up for a property, if it does. */
function lookedUp(value: unknown): string | undefined {
  let name: string | undefined;
  const flow = {
    getSetting: (key: string): string => {
      name = key;
      return 'replaced';
    },
  };
  mapEnvVarProperties({ value }, 'value', flow, {});
  return name;
}

describe('an environment variable in a property', () => {
  const PROPERTIES = [
    ...['${DEVICE}', '$(DEVICE)', '${a.b-c}', '${温度}', '${$parent.DEVICE}', '${A}${B}', '${a}b}'],
    ...['${DE VICE}', '${DE\tVICE}', '${}', '$()', '$DEVICE', '${DEVICE', '${DEVICE)', '{DEVICE}'],
    ...[' ${DEVICE}', '${DEVICE} ', 'x${DEVICE}', '${DEVICE}\n', '', '10000001'],
  ];
  for (const value of PROPERTIES) {
    it(`is what Node-RED recognises as one: ${JSON.stringify(value)}`, () => {
      assert.equal(variableName(value), lookedUp(value));
    });
  }

  it('is not a number, an object or a missing value', () => {
    for (const value of [7, null, undefined, {}, ['${DEVICE}']]) {
      assert.equal(variableName(value), undefined);
    }
  });
});
