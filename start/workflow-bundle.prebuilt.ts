import { bundleWorkflows } from '../workers/worker.ts';

/** The workflow code as one script, prebuilt because bundling takes seconds and hundreds of megabytes. */
export default bundleWorkflows;
