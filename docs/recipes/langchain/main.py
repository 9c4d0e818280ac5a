import asyncio
import os
from urllib.parse import urljoin, urlparse

from kernel import AsyncKernel
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from playwright.async_api import async_playwright

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
    browser = await kernel.browsers.create(profile={"name": "recipes"}, headless=True)
    try:
        async with async_playwright() as playwright:
            remote = await playwright.chromium.connect_over_cdp(browser.cdp_ws_url)
            context = remote.contexts[0]
            page = context.pages[0] if context.pages else await context.new_page()

            @tool
            async def read_page(path: str) -> str:
                """Opens a page of the site, such as /account, as the person who is logged in, and answers its text."""
                url = urljoin(site, path)
                if urlparse(url).netloc != urlparse(site).netloc:
                    return "Only pages of the site can be read."
                await page.goto(url)
                return await page.inner_text("body")

            # It reads OPENAI_BASE_URL and OPENAI_API_KEY by itself.
            model = ChatOpenAI(model=os.environ.get("OPENAI_MODEL", "gpt-4.1-mini"))
            agent = create_agent(model, tools=[read_page])
            question = "Whose account is this? Its page is /account. Answer in one sentence, with the full name."
            answer = await agent.ainvoke({"messages": [{"role": "user", "content": question}]})
            print(f"Answer: {answer['messages'][-1].text}")
            await remote.close()
    finally:
        await kernel.browsers.delete_by_id(browser.session_id)


asyncio.run(main())
