import { invalidInput, show } from '../../src/input';

/**
 * Reads a property that is one of a few words. The first of them is the default for one that is missing or empty,
 * as the dialog has it. Any other is refused: a misspelt `read` must not set a pin.
 * @param name of the property
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function choiceOf<T extends string>(
  value: unknown,
  name: string,
  choices: readonly [T, ...T[]],
): T {
  if (value === undefined || value === null || value === '') return choices[0];
  const choice = choices.find((each) => each === value);
  if (choice !== undefined) return choice;
  throw invalidInput(
    `The property "${name}" must be one of ${choices.join(', ')}, but is ${show(value)}.`,
  );
}
