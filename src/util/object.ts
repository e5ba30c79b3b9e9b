import type { JsonObject } from '../types';

/** Whether a value has fields: an object, not an array or null. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An object that holds fields, in whatever realm it was made: no Date, no Map, no Buffer. */
export const isPlainObject = (value: unknown): value is JsonObject =>
  Object.prototype.toString.call(value) === '[object Object]';
