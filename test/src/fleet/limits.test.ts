import assert from 'node:assert/strict';
import { readLimits } from '../../../src/fleet/limits';

const LINES = [
  'temperature > 30',
  'temperature >= 30 for 60',
  'room temperature < -1.5 for 0.5 clear > 0',
  '温度>30 clear<=30',
  'level <= 5 clear >= 10',
];
const NONE = [
  '> 30',
  'temperature = 30',
  'temperature > high',
  'temperature > 30 °C',
  'temperature > 30 for -5',
  'temperature > 30 clear',
  // These would be cleared where they are crossed.
  'temperature > 30 clear > 28',
  'temperature > 30 clear < 32',
  'temperature < 5 clear > 4',
  'temperature >= 30 clear <= 30',
];

describe('the limits of a type', () => {
  for (const line of LINES)
    it(`can be ${line}`, () => {
      const { limits, wrong } = readLimits(line);
      assert.deepEqual([limits.map((limit) => limit.line), wrong], [[line], []]);
    });

  for (const line of NONE)
    it(`cannot be ${line}`, () => {
      const { limits, wrong } = readLimits(line);
      assert.deepEqual([limits, wrong], [[], [line]]);
    });

  it('are a line each, of which those that are wrong or repeated are named', () => {
    const { limits, wrong } = readLimits('\r\n a  > 1 \r\n\nb ! 2\na > 1\nb < 2');
    assert.deepEqual(
      [limits.map(({ field, line }) => [field, line]), wrong],
      [
        [
          ['a', 'a > 1'],
          ['b', 'b < 2'],
        ],
        ['b ! 2', 'a > 1'],
      ],
    );
  });
});
