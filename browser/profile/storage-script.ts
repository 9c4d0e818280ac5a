/**
 * Code that runs in an isolated world of a page: the page cannot see it, and changes to the page's globals do not affect it.
 * It is text, because helpers that a build step adds to functions would not exist there.
 *
 * IndexedDB values are structured clones, which JSON cannot represent. Objects become `{t: kind, …}`, numbered in the order
 * of traversal, so that shared and circular references can be restored (`{t: 'ref', i}`).
 */
const CODEC = String.raw`
  const toBase64 = (buffer) => {
    const bytes = new Uint8Array(buffer);
    let text = '';
    for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768));
    return btoa(text);
  };
  const fromBase64 = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
  const VIEWS = { Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array,
    Float32Array, Float64Array, BigInt64Array, BigUint64Array, DataView };

  const encode = async (value, seen = new Map()) => {
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
    if (value === undefined) return { t: 'undefined' };
    if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0) ? value : { t: 'number', v: Object.is(value, -0) ? '-0' : String(value) };
    if (typeof value === 'bigint') return { t: 'bigint', v: String(value) };
    if (seen.has(value)) return { t: 'ref', i: seen.get(value) };
    seen.set(value, seen.size);
    const list = async (items) => { const out = []; for (const item of items) out.push(await encode(item, seen)); return out; };
    const kind = Object.prototype.toString.call(value).slice(8, -1);
    if (Array.isArray(value)) return { t: 'array', v: await list(value) };
    if (kind === 'Date') return { t: 'date', v: value.getTime() };
    if (kind === 'RegExp') return { t: 'regexp', s: value.source, f: value.flags };
    if (kind === 'Map') return { t: 'map', v: await list([...value].flat(1)) };
    if (kind === 'Set') return { t: 'set', v: await list([...value]) };
    if (kind === 'ArrayBuffer') return { t: 'buffer', v: toBase64(value) };
    if (ArrayBuffer.isView(value)) return { t: 'view', c: kind, v: toBase64(value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength)) };
    if (kind === 'Blob') return { t: 'blob', m: value.type, v: toBase64(await value.arrayBuffer()) };
    if (kind === 'File') return { t: 'file', n: value.name, d: value.lastModified, m: value.type, v: toBase64(await value.arrayBuffer()) };
    if (kind === 'Error') return { t: 'error', n: value.name, m: value.message };
    if (kind === 'Boolean' || kind === 'Number' || kind === 'String') return { t: 'boxed', v: await encode(value.valueOf(), seen) };
    if (kind === 'CryptoKey') {
      if (!value.extractable) throw new Error('a non-extractable key');
      return { t: 'key', j: JSON.stringify(await crypto.subtle.exportKey('jwk', value)), a: await encode({ ...value.algorithm }, seen), u: value.usages };
    }
    if (kind !== 'Object') throw new Error('a ' + kind);
    const entries = [];
    for (const key of Object.keys(value)) entries.push([key, await encode(value[key], seen)]);
    return { t: 'object', v: entries };
  };

  const decode = async (value, made = []) => {
    if (value === null || typeof value !== 'object') return value;
    const keep = (object) => { made.push(object); return object; };
    switch (value.t) {
      case 'undefined': return undefined;
      case 'number': return Number(value.v);
      case 'bigint': return BigInt(value.v);
      case 'ref': return made[value.i];
      case 'array': { const out = keep([]); for (const item of value.v) out.push(await decode(item, made)); return out; }
      case 'date': return keep(new Date(value.v));
      case 'regexp': return keep(new RegExp(value.s, value.f));
      case 'map': { const out = keep(new Map()); for (let i = 0; i < value.v.length; i += 2) out.set(await decode(value.v[i], made), await decode(value.v[i + 1], made)); return out; }
      case 'set': { const out = keep(new Set()); for (const item of value.v) out.add(await decode(item, made)); return out; }
      case 'buffer': return keep(fromBase64(value.v));
      case 'view': return keep(new VIEWS[value.c](fromBase64(value.v)));
      case 'blob': return keep(new Blob([fromBase64(value.v)], { type: value.m }));
      case 'file': return keep(new File([fromBase64(value.v)], value.n, { type: value.m, lastModified: value.d }));
      case 'error': { const out = keep(new Error(value.m)); out.name = value.n; return out; }
      case 'boxed': { const at = made.push(null) - 1; made[at] = Object(await decode(value.v, made)); return made[at]; }
      case 'key': {
        const at = made.push(null) - 1;
        const algorithm = await decode(value.a, made);
        made[at] = await crypto.subtle.importKey('jwk', JSON.parse(value.j), algorithm, true, value.u);
        return made[at];
      }
      default: { const out = keep({}); for (const [key, item] of value.v) Object.defineProperty(out, key, { value: await decode(item, made), enumerable: true, writable: true, configurable: true }); return out; }
    }
  };
  const done = (request) => new Promise((resolve, reject) => { request.onsuccess = () => resolve(request.result); request.onerror = () => reject(request.error); });
  const pairs = (storage) => Object.fromEntries(Array.from({ length: storage.length }, (_, i) => storage.key(i)).map((key) => [key, storage.getItem(key)]));
`;

/** Timeout for reading one database, in milliseconds: another tab may block it. */
const DATABASE_TIMEOUT_MS = 3_000;
/** A store with more records is a cache, not login state. */
const MAX_RECORDS_PER_STORE = 20_000;
/** Databases of an origin beyond this total size are skipped, in characters of JSON. */
const MAX_ORIGIN_CHARACTERS = 16 * 1024 * 1024;

/**
 * Expression that resolves to `{origin, localStorage, sessionStorage, indexedDB, unread, skipped}` of its document. `unread`
 * names databases that could not be read or are too large, `skipped` counts records that cannot be encoded.
 */
export const READ_STORAGE = String.raw`(async () => {
  ${CODEC}
  let skipped = 0;
  const unread = [];
  let room = ${String(MAX_ORIGIN_CHARACTERS)};
  const readStore = async (transaction, name) => {
    const store = transaction.objectStore(name);
    const [keys, values] = await Promise.all([done(store.getAllKeys(null, ${String(MAX_RECORDS_PER_STORE)})), done(store.getAll(null, ${String(MAX_RECORDS_PER_STORE)}))]);
    const indexes = [...store.indexNames].map((index) => store.index(index)).map(({ name, keyPath, unique, multiEntry }) => ({ name, keyPath, unique, multiEntry }));
    return { name, keyPath: store.keyPath, autoIncrement: store.autoIncrement, indexes, keys, values };
  };
  const readDatabase = async ({ name, version }) => {
    const database = await done(indexedDB.open(name));
    try {
      const names = [...database.objectStoreNames];
      if (names.length === 0) return { name, version, stores: [] };
      const transaction = database.transaction(names, 'readonly');
      const raw = await Promise.all(names.map((store) => readStore(transaction, store)));
      const stores = [];
      for (const { keys, values, ...store } of raw) {
        const records = [];
        for (const [i, key] of keys.entries()) {
          try { records.push({ key: await encode(key), value: await encode(values[i]) }); } catch { skipped += 1; }
        }
        stores.push({ ...store, records });
      }
      return { name, version, stores };
    } finally { database.close(); }
  };
  const indexedDatabases = [];
  try {
    for (const info of await indexedDB.databases()) {
      try {
        const late = new Promise((_, reject) => setTimeout(() => reject(new Error('late')), ${String(DATABASE_TIMEOUT_MS)}));
        const database = await Promise.race([readDatabase(info), late]);
        room -= JSON.stringify(database).length;
        if (room < 0) unread.push(info.name); else indexedDatabases.push(database);
      } catch { unread.push(info.name); }
    }
  } catch { /* No IndexedDB here (an opaque origin). */ }
  let local = {}, session = {};
  try { local = pairs(localStorage); session = pairs(sessionStorage); } catch { /* No storage here. */ }
  return { origin: location.origin, localStorage: local, sessionStorage: session, indexedDB: indexedDatabases, unread, skipped };
})()`;

/** Expression that resolves to `{origin, sessionStorage}` of its document. */
export const READ_SESSION_STORAGE = String.raw`(async () => {
  ${CODEC}
  try { return { origin: location.origin, sessionStorage: pairs(sessionStorage) }; } catch { return { origin: 'null', sessionStorage: {} }; }
})()`;

/** Expression that restores an origin's storage in its document, and resolves to the number of faults. */
export function writeStorageExpression(origin: {
  localStorage: unknown;
  sessionStorage: unknown;
  indexedDB: unknown;
}): string {
  const { localStorage, sessionStorage, indexedDB } = origin;
  // A string for the page to parse: in an object literal, a key named __proto__ would set the prototype.
  const data = JSON.stringify(JSON.stringify({ localStorage, sessionStorage, indexedDB }));
  return String.raw`(async () => {
  ${CODEC}
  const data = JSON.parse(${data});
  let faults = 0;
  for (const [kind, storage] of [['localStorage', localStorage], ['sessionStorage', sessionStorage]]) {
    for (const [key, value] of Object.entries(data[kind])) { try { storage.setItem(key, value); } catch { faults += 1; } }
  }
  for (const info of data.indexedDB) {
    try {
      const request = indexedDB.open(info.name, info.version);
      request.onupgradeneeded = () => {
        for (const { name, keyPath, autoIncrement, indexes } of info.stores) {
          const store = request.result.createObjectStore(name, { keyPath, autoIncrement });
          for (const index of indexes) store.createIndex(index.name, index.keyPath, { unique: index.unique, multiEntry: index.multiEntry });
        }
      };
      const database = await done(request);
      try {
        for (const { name, keyPath, records } of info.stores) {
          const decoded = [];
          for (const record of records) { try { decoded.push([await decode(record.key), await decode(record.value)]); } catch { faults += 1; } }
          const transaction = database.transaction(name, 'readwrite');
          const store = transaction.objectStore(name);
          for (const [key, value] of decoded) {
            const request = keyPath === null ? store.put(value, key) : store.put(value);
            // A refused record must not abort the transaction of the others.
            request.onerror = (event) => { event.preventDefault(); faults += 1; };
          }
          // Closing the page before the commit would discard the writes, such as blobs that are still being written.
          await new Promise((resolve, reject) => { transaction.oncomplete = resolve; transaction.onabort = () => reject(transaction.error); });
        }
      } finally { database.close(); }
    } catch { faults += 1; }
  }
  return faults;
})()`;
}
