/** Set by the supervisor for its children. */
export const SUPERVISED_VARIABLE = 'HOLDFAST_SUPERVISED';

/** True in a process that `npm start` runs as part of its tree. */
export function isSupervised(): boolean {
  return process.env[SUPERVISED_VARIABLE] !== undefined;
}
