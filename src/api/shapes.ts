import type { AppRecord, DeviceRecord, RefreshAnswer, ResultAnswer } from '../types';
import type { Shape } from '../http/answer';
import { isObject } from '../util/object';

const isObjects = (value: unknown): boolean => Array.isArray(value) && value.every(isObject);

export const anyShape: Shape<unknown> = {
  name: 'JSON',
  is: (value): value is unknown => value !== undefined,
};

/** An object whose fields are assumed to be as the service's document describes them, without a check of each. */
export const objectOf = <T extends object>(): Shape<T> => ({
  name: 'a JSON object',
  is: (value): value is T => isObject(value),
});

/** An array of anything: the caller checks each item. */
export const anyArray: Shape<unknown[]> = {
  name: 'an array',
  is: (value): value is unknown[] => Array.isArray(value),
};

export const listOf = <T extends object>(): Shape<T[]> => ({
  name: 'an array of JSON objects',
  is: (value): value is T[] => isObjects(value),
});

/** Of a list of devices, some records may be unusable: its readers leave them out. */
export const deviceList: Shape<DeviceRecord[]> = {
  name: 'an array of JSON objects',
  is: (value): value is DeviceRecord[] =>
    Array.isArray(value) && (value.length === 0 || value.some(isObject)),
};

export const appShape: Shape<AppRecord> = {
  name: 'a JSON object with an array "online"',
  is: (value): value is AppRecord => isObject(value) && isObjects(value['online']),
};

/** Without a status it would be read as an offline device. */
export const refreshShape: Shape<RefreshAnswer> = {
  name: 'a JSON object with a string "status"',
  is: (value): value is RefreshAnswer => isObject(value) && typeof value['status'] === 'string',
};

export const resultShape: Shape<ResultAnswer> = {
  name: 'a JSON object with a string "result"',
  is: (value): value is ResultAnswer => isObject(value) && typeof value['result'] === 'string',
};
