import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Application } from './application.ts';
import { fillLoginForm } from './login-by-hand.ts';
import { optionArguments, pythonPackages, startRestartable, startServer } from './server-process.ts';

const ADA = { identifier: 'ada', password: 'Correct-horse-battery-9' };

/** The login of NiceGUI's own example, over its websocket. */
const NICEGUI_PROGRAM = `import sys
from fastapi import Request
from fastapi.responses import RedirectResponse
from nicegui import app, ui
from starlette.middleware.base import BaseHTTPMiddleware
PASSWORDS = {'${ADA.identifier}': '${ADA.password}'}
@app.add_middleware
class OnlyKnown(BaseHTTPMiddleware):
    async def dispatch(self, request: Request, call_next):
        path = request.url.path
        if not app.storage.user.get('authenticated', False) and not path.startswith('/_nicegui') and path != '/login':
            return RedirectResponse(f'/login?redirect_to={path}')
        return await call_next(request)
@ui.page('/')
def main_page():
    def leave():
        app.storage.user.clear()
        ui.navigate.to('/login')
    with ui.column().classes('absolute-center items-center'):
        ui.label(f'Hello {app.storage.user["username"]}!').classes('text-2xl')
        ui.button(on_click=leave, icon='logout').props('outline round')
@ui.page('/login')
def login(redirect_to: str = '/'):
    def try_login():
        if PASSWORDS.get(username.value) == password.value:
            app.storage.user.update({'username': username.value, 'authenticated': True})
            ui.navigate.to(redirect_to)
        else:
            ui.notify('Wrong username or password', color='negative')
    if app.storage.user.get('authenticated', False):
        return RedirectResponse('/')
    with ui.card().classes('absolute-center'):
        username = ui.input('Username').on('keydown.enter', try_login)
        password = ui.input('Password', password=True, password_toggle_button=True).on('keydown.enter', try_login)
        ui.button('Log in', on_click=try_login)
ui.run(host='127.0.0.1', port=int(sys.argv[1]), reload=False, show=False, storage_secret=sys.argv[2])
`;

const niceGui: Application = {
  name: 'NiceGUI',
  builtWith: 'FastAPI, Vue, Quasar, rendered over a websocket; a refusal is a toast, the logout link an image',
  installedAs: 'nicegui',
  install: (folder) => pythonPackages(folder, ['nicegui==3.*']),
  start: async ({ folder, data, port, url }) => {
    const script = join(data, 'program.py');
    await writeFile(script, NICEGUI_PROGRAM);
    const serve = (secret: string) =>
      startServer(join(folder, 'bin', 'python'), [script, String(port), secret], `${url}/login`, { cwd: data });
    const server = await startRestartable(serve, () => rm(join(data, '.nicegui'), { recursive: true, force: true }));
    return {
      ...server,
      account: ADA,
      byHand: async (page) => {
        await page.goto(url);
        await page.getByLabel('Username').fill(ADA.identifier);
        await page.getByLabel('Password').fill(ADA.password);
        await page.getByRole('button', { name: 'Log in' }).click();
        await page.getByText('Hello ada!').waitFor();
      },
    };
  },
};

const CHAINLIT_PROGRAM = `import chainlit as cl
@cl.password_auth_callback
def authenticate(username: str, password: str):
    return cl.User(identifier=username) if (username, password) == ('${ADA.identifier}', '${ADA.password}') else None
@cl.on_message
async def answer(message: cl.Message):
    await cl.Message(content=message.content).send()
`;

const chainlit: Application = {
  name: 'Chainlit',
  builtWith: 'FastAPI, React, Radix; a chat inside',
  installedAs: 'chainlit',
  install: (folder) => pythonPackages(folder, ['chainlit==2.*']),
  start: async ({ folder, data, port, url }) => {
    await writeFile(join(data, 'program.py'), CHAINLIT_PROGRAM);
    const args = ['run', 'program.py', '--headless', '--host', '127.0.0.1', '--port', String(port)];
    const serve = (secret: string) =>
      startServer(join(folder, 'bin', 'chainlit'), args, url, {
        cwd: data,
        env: { CHAINLIT_AUTH_SECRET: secret, CHAINLIT_APP_ROOT: data },
      });
    const server = await startRestartable(serve);
    return {
      ...server,
      account: ADA,
      byHand: async (page) => {
        await fillLoginForm(page, url, ADA, ['#email', '#password', 'button[type=submit]']);
        await page.waitForSelector('#chat-input');
      },
    };
  },
};

const STREAMLIT_PROGRAM = `import os
import streamlit as st
import streamlit_authenticator as stauth
users = {'${ADA.identifier}': {'email': 'ada@example.com', 'first_name': 'Ada', 'last_name': 'Archer', 'password': '${ADA.password}'}}
authenticator = stauth.Authenticate({'usernames': users}, 'demo', os.environ['COOKIE_KEY'], 30)
authenticator.login()
if st.session_state.get('authentication_status'):
    authenticator.logout()
    st.write(f'Welcome *{st.session_state.get("name")}*')
    st.title('Some content')
elif st.session_state.get('authentication_status') is False:
    st.error('Username/password is incorrect')
else:
    st.warning('Please enter your username and password')
`;

const streamlit: Application = {
  name: 'Streamlit',
  builtWith:
    'Tornado, React, Base Web, streamlit-authenticator; rendered over a websocket, the cookie set by a script in a frame',
  installedAs: 'streamlit',
  install: (folder) => pythonPackages(folder, ['streamlit==1.*', 'streamlit-authenticator==0.4.*']),
  start: async ({ folder, data, port, url }) => {
    await writeFile(join(data, 'program.py'), STREAMLIT_PROGRAM);
    const settings = {
      'server.port': String(port),
      'server.address': '127.0.0.1',
      'server.headless': 'true',
      'browser.gatherUsageStats': 'false',
    };
    const args = optionArguments(settings);
    const serve = (key: string) =>
      startServer(join(folder, 'bin', 'streamlit'), ['run', 'program.py', ...args], url, {
        cwd: data,
        env: { COOKIE_KEY: key },
      });
    const server = await startRestartable(serve);
    return {
      ...server,
      account: ADA,
      byHand: async (page) => {
        await page.goto(url);
        await page.getByLabel('Username').fill(ADA.identifier);
        await page.getByLabel('Password').first().fill(ADA.password);
        await page.getByRole('button', { name: 'Login' }).click();
        await page.getByText('Some content').waitFor();
      },
    };
  },
};

/** Programs of a few lines whose pages a Python library draws. */
export const PYTHON_INTERFACES: readonly Application[] = [niceGui, chainlit, streamlit];
