import { bundleWorkflows } from '../workers/worker.ts';

/** The workflow code as one script. Bundling it takes seconds and hundreds of megabytes. */
export default bundleWorkflows;
