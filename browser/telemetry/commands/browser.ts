import { AUTOFILL_MODES, WINDOW_STATES } from '../../../contract/telemetry-command-enums.ts';
import { at, countOf, flag, id, int, present, scheme, within, word, type CommandTable } from './readers.ts';

/** Fields recorded of browser commands: windows, targets, downloads and autofill. */
export const BROWSER_COMMANDS = {
  'Autofill.trigger': {
    required: { field_id: int('fieldId') },
    optional: {
      frame_id: id('frameId'),
      mode: (params) => AUTOFILL_MODES.find((mode) => at(params, mode) !== undefined),
      address_field_count: within('address', countOf('fields')),
    },
  },
  'Browser.cancelDownload': {
    required: { download_guid: id('guid') },
    optional: { browser_context_id: id('browserContextId') },
  },
  'Browser.close': {},
  'Browser.setContentsSize': {
    required: { window_id: int('windowId') },
    optional: { width: int('width'), height: int('height') },
  },
  'Browser.setWindowBounds': {
    required: { window_id: int('windowId') },
    optional: {
      left: within('bounds', int('left')),
      top: within('bounds', int('top')),
      width: within('bounds', int('width')),
      height: within('bounds', int('height')),
      window_state: within('bounds', word('windowState', WINDOW_STATES)),
    },
  },
  'Target.activateTarget': { required: { target_id: id('targetId') } },
  'Target.closeTarget': { required: { target_id: id('targetId') } },
  'Target.createBrowserContext': {
    optional: {
      dispose_on_detach: flag('disposeOnDetach'),
      proxy_server_present: present('proxyServer'),
      proxy_bypass_list_present: present('proxyBypassList'),
      universal_network_access_origin_count: countOf('originsWithUniversalNetworkAccess'),
    },
  },
  'Target.createTarget': {
    optional: {
      url_scheme: scheme('url'),
      browser_context_id: id('browserContextId'),
      left: int('left'),
      top: int('top'),
      width: int('width'),
      height: int('height'),
      window_state: word('windowState', WINDOW_STATES),
      background: flag('background'),
      enable_begin_frame_control: flag('enableBeginFrameControl'),
      focus: flag('focus'),
      for_tab: flag('forTab'),
      hidden: flag('hidden'),
      new_window: flag('newWindow'),
    },
  },
  'Target.disposeBrowserContext': { required: { browser_context_id: id('browserContextId') } },
  'Target.openDevTools': { required: { target_id: id('targetId') }, optional: { panel_id: id('panelId') } },
} satisfies CommandTable;
