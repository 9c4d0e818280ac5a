import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { createPayloadCodec } from './payload-codec.ts';

/** The data converter that every worker and every client of Holdfast's workflows must use. `payloadKey`: 32 bytes. */
export function createDataConverter(payloadKey: Buffer): DataConverter {
  return {
    payloadCodecs: [createPayloadCodec(payloadKey)],
    failureConverterPath: fileURLToPath(new URL('./failure-converter.ts', import.meta.url)),
  };
}
