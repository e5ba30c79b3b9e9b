import assert from 'node:assert/strict';
import { chipidsIn } from '../../flow-test/flows';

const numbersIn = (properties: object): string[] =>
  chipidsIn([{ id: 'n', type: 'device-cloud-listen', devices: 'list', ...properties }]);

describe('chip numbers that nodes of a flow name', () => {
  it('are those of a list, an array, a text or a number', () => {
    assert.deepEqual(numbersIn({ chipids: ['1', 2, '${DEVICE}'] }), ['1', '2']);
    assert.deepEqual(numbersIn({ chipids: '1, 002;3\n4' }), ['1', '2', '3', '4']);
    assert.deepEqual(numbersIn({ chipids: 5 }), ['5']);
    assert.deepEqual(numbersIn({ chipids: '' }), []);
  });

  it('are not those of a list that the node does not use', () => {
    assert.deepEqual(numbersIn({ devices: 'online', chipids: '1 2' }), []);
  });
});
