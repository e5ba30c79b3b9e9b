import { isDeviceCloudError, type Explanation, type KeyWarning } from '../../../src/index';

/** Help with a refused key: what looks wrong about it, and what was sent. */
export interface Help {
  warnings?: KeyWarning[];
  /** Its warnings are those that are not about keys. */
  explanation?: Explanation;
}

const isAboutKey = (warning: Explanation['warnings'][number]): warning is KeyWarning =>
  'setting' in warning;

/** Helps with an error that a wrong key may have caused. A wrong appid may be 401 or 404 (section 7). */
export function helpWith(error: unknown, explain: () => Explanation): Help {
  if (!isDeviceCloudError(error, 'UNAUTHORIZED', 'NOT_FOUND')) return {};
  const explanation = explain();
  const warnings = explanation.warnings.filter((warning) => !isAboutKey(warning));
  return {
    warnings: explanation.warnings.filter(isAboutKey),
    explanation: { ...explanation, warnings },
  };
}
