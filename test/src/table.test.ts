import assert from 'node:assert/strict';
import { table } from '../../tooling/table';

describe('a table for a document', () => {
  it('is one in Markdown even if each value is a single digit', () => {
    const [, delimiters] = table('trouble', [['channel closed', '1']]).split('\n');
    assert.match(delimiters ?? '', /^\| -+ \| -+: \|$/);
  });
});
