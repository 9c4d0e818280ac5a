import asyncio
import os
from urllib.parse import urlparse

from browser_use import Agent, Browser, ChatOpenAI
from kernel import AsyncKernel

kernel = AsyncKernel(base_url=os.environ.get("KERNEL_BASE_URL", "http://localhost:8080"))
site = os.environ.get("SITE_URL", "http://localhost:8081")


async def log_in() -> None:
    """A connection keeps the profile logged in on the site. A person logs in once."""
    place = {"profile_name": "recipes", "domain": urlparse(site).netloc}
    existing = (await kernel.auth.connections.list(**place)).items
    connection = existing[0] if existing else await kernel.auth.connections.create(**place, login_url=f"{site}/login")
    if connection.status == "AUTHENTICATED":
        return
    login = await kernel.auth.connections.login(connection.id)
    print(f"Log in on {login.hosted_url}", flush=True)
    async for event in await kernel.auth.connections.follow(connection.id):
        if event.event == "managed_auth_state":
            print(event.flow_status, event.flow_step, flush=True)
    if (await kernel.auth.connections.retrieve(connection.id)).status != "AUTHENTICATED":
        raise SystemExit("Nobody logged in")


async def main() -> None:
    await log_in()
    session = await kernel.browsers.create(profile={"name": "recipes"}, headless=True)
    try:
        # It reads OPENAI_BASE_URL and OPENAI_API_KEY by itself.
        agent = Agent(
            task=f"Open {site}/account and answer the full name of the person who is logged in.",
            llm=ChatOpenAI(model=os.environ.get("OPENAI_MODEL", "gpt-4.1-mini")),
            browser=Browser(cdp_url=session.cdp_ws_url),
            use_judge=False,
        )
        history = await agent.run(max_steps=5)
        print(f"Name: {history.final_result()}")
    finally:
        await kernel.browsers.delete_by_id(session.session_id)


asyncio.run(main())
