import { statfsSync } from 'node:fs';
import type { ChromePolicy } from './policy.ts';

/** Options of a Chromium launch. Browsers launched with equal choices are interchangeable. */
export interface LaunchChoices {
  headless: boolean;
  stealth: boolean;
  kioskMode: boolean;
  /** The session's enterprise policies; null for none. */
  policy: ChromePolicy | null;
}

interface FlagInput {
  choices: LaunchChoices;
  userDataDir: string;
  /** The egress proxy, through which all traffic of the browser goes. */
  egressProxyUrl: string;
  noSandbox: boolean;
  viewport: { width: number; height: number };
  /** User agent without the word "Headless"; null leaves Chromium's own. */
  userAgent: string | null;
}

/** Height of the tab strip and address bar in a headless Chromium's window, in pixels. */
const WINDOW_CHROME_HEIGHT = 87;
/** With less shared memory (containers often have 64 MB), renderers crash on large pages. */
const MIN_SHARED_MEMORY_BYTES = 1024 * 1024 * 1024;

/** Turns off background work that uses the network, costs time, or interferes with automation. */
const NO_BACKGROUND_WORK = [
  '--no-first-run',
  '--no-default-browser-check',
  '--no-service-autorun',
  '--disable-background-networking',
  '--disable-breakpad',
  '--disable-crash-reporter',
  '--disable-client-side-phishing-detection',
  '--disable-component-extensions-with-background-pages',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-domain-reliability',
  '--disable-field-trial-config',
  '--disable-search-engine-choice-screen',
  '--disable-sync',
  '--metrics-recording-only',
  '--mute-audio',
  '--password-store=basic',
  '--use-mock-keychain',
];

/** Pages behave the same in foreground and background, and accept input before they have painted. */
const CONSISTENT_PAGES = [
  '--allow-pre-commit-input',
  '--disable-back-forward-cache',
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-hang-monitor',
  '--disable-ipc-flooding-protection',
  '--disable-popup-blocking',
  '--disable-prompt-on-repost',
  '--disable-renderer-backgrounding',
  '--enable-unsafe-swiftshader',
  '--lang=en-US',
];

const DISABLED_FEATURES = [
  // Address-bar popups that are separate pages: clients would see them, and each costs a process.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  'AiModeOmniboxEntryPoint',
  'AutofillServerCommunication',
  'CertificateTransparencyComponentUpdater',
  'DestroyProfileOnBrowserClose',
  'DialMediaRouteProvider',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'OptimizationHints',
  'PasswordLeakDetection',
  'Prerender2',
  // A renderer kept in reserve for the next site: a tenth of a short session's processor time, and memory.
  'SpareRendererForSitePerProcess',
  'Translate',
];

/**
 * Blocks every way around the proxy: loopback is not exempt, UDP (QUIC, WebRTC) is off, and the browser resolves no name
 * but the proxy's.
 */
function egressFlags(proxyUrl: string): string[] {
  return [
    `--proxy-server=${proxyUrl}`,
    '--proxy-bypass-list=<-loopback>',
    '--disable-quic',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    `--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE ${new URL(proxyUrl).hostname}`,
    '--dns-prefetch-disable',
  ];
}

/** The command-line arguments of a Chromium. */
export function chromiumFlags(input: FlagInput): string[] {
  const { choices, viewport } = input;
  const windowHeight = viewport.height + (choices.kioskMode ? 0 : WINDOW_CHROME_HEIGHT);
  return [
    ...NO_BACKGROUND_WORK,
    ...CONSISTENT_PAGES,
    ...egressFlags(input.egressProxyUrl),
    `--disable-features=${DISABLED_FEATURES.join(',')}`,
    `--user-data-dir=${input.userDataDir}`,
    // The pipe is ours, and the browser exits when it closes; the port serves clients of the websocket proxy.
    '--remote-debugging-pipe',
    '--remote-debugging-port=0',
    ...(choices.headless
      ? ['--headless=new', `--screen-info={${String(viewport.width)}x${String(windowHeight)}}`]
      : ['--window-position=0,0']),
    `--window-size=${String(viewport.width)},${String(choices.headless ? windowHeight : viewport.height)}`,
    ...(choices.kioskMode ? ['--kiosk'] : []),
    ...(choices.stealth ? ['--disable-blink-features=AutomationControlled'] : []),
    ...(input.userAgent === null ? [] : [`--user-agent=${input.userAgent}`]),
    // Without it, an infobar about unsupported flags would take 56 pixels from every page.
    '--test-type',
    ...(input.noSandbox ? ['--no-sandbox', '--disable-setuid-sandbox'] : []),
    ...(hasSmallSharedMemory() ? ['--disable-dev-shm-usage'] : []),
    'about:blank',
  ];
}

function hasSmallSharedMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize < MIN_SHARED_MEMORY_BYTES;
  } catch {
    // No such folder: not Linux.
    return false;
  }
}
