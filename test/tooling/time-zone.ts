/** Does something on a machine of a time zone: Node.js takes a change of the variable at run time. */
export function inTimeZone<T>(name: string, work: () => T): T {
  const { TZ } = process.env;
  const back = (): void => {
    if (TZ === undefined) Reflect.deleteProperty(process.env, 'TZ');
    else process.env['TZ'] = TZ;
  };
  process.env['TZ'] = name;
  let result: T;
  try {
    result = work();
  } catch (error) {
    back();
    throw error;
  }
  if (result instanceof Promise) return result.finally(back) as T;
  back();
  return result;
}
