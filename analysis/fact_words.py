"""How facts are told in Chinese and English: what happened, what follows, and what to do about it."""

from typing import NamedTuple

from analysis.models import FactKind, Language, Severity


class FactWords(NamedTuple):
    """How a kind of fact is told: `says` and `advice` take {names}, `risk` stands alone; no risk where it is empty."""

    says: str
    risk: str = ""
    severity: Severity = Severity.LOW
    advice: str = ""


FACT_WORDS: dict[Language, dict[FactKind, FactWords]] = {
    "zh": {
        FactKind.REMOVED_ENV: FactWords(
            "移除环境变量 {names}",
            "仍在设置这些变量的部署会被静默忽略或报错",
            Severity.HIGH,
            "升级前在启动脚本、镜像与编排配置中搜索 {names}，删除或改用替代项",
        ),
        FactKind.RENAMED_ENV: FactWords(
            "重命名环境变量 {names}", "旧变量名不再生效", Severity.HIGH, "把部署配置中的变量改为新名：{names}"
        ),
        FactKind.REMOVED_FLAG: FactWords(
            "移除命令行参数 {names}", "仍带这些参数的启动命令会失败", Severity.HIGH, "升级前从启动命令中去掉 {names}"
        ),
        FactKind.RENAMED_FLAG: FactWords(
            "重命名命令行参数 {names}", "旧参数名会使启动失败", Severity.HIGH, "把启动命令改为新参数：{names}"
        ),
        FactKind.REMOVED_KEY: FactWords(
            "移除配置项 {names}", "仍在设置这些配置项的部署会报错或被忽略", Severity.HIGH, "升级前从配置中删除 {names}"
        ),
        FactKind.RENAMED_KEY: FactWords(
            "重命名配置项 {names}", "旧配置项不再生效", Severity.HIGH, "把配置项改为新名：{names}"
        ),
        FactKind.REMOVED_ROUTE: FactWords(
            "移除 HTTP 路由 {names}",
            "仍在请求这些路由的客户端会得到 404",
            Severity.HIGH,
            "在客户端和网关中搜索 {names}",
        ),
        FactKind.RENAMED_ROUTE: FactWords(
            "更改 HTTP 路由 {names}", "请求旧路由的客户端会得到 404", Severity.HIGH, "让客户端和网关改用新路由：{names}"
        ),
        FactKind.REMOVED_FIELD: FactWords(
            "移除接口字段 {names}", "读写这些字段的客户端会失败", Severity.HIGH, "在客户端中搜索 {names}"
        ),
        FactKind.RENAMED_FIELD: FactWords(
            "重命名接口字段 {names}", "读写旧字段的客户端会失败", Severity.HIGH, "让客户端改用新字段：{names}"
        ),
        FactKind.SUPPORT_DROPPED: FactWords(
            "不再提供 {names}", "仍在使用它们的部署会失败", Severity.HIGH, "升级前确认没有部署在使用 {names}"
        ),
        FactKind.MINIMUM_RAISED: FactWords(
            "提高最低版本要求 {names}", "低于此版本的环境无法安装或构建", Severity.HIGH, "升级前先升级环境：{names}"
        ),
        FactKind.REMOVED_NAME: FactWords(
            "移除公开名称 {names}",
            "导入这些名称的插件和分支会在导入时失败",
            Severity.MEDIUM,
            "在插件和分支中搜索 {names}",
        ),
        FactKind.RENAMED_NAME: FactWords(
            "重命名公开名称 {names}", "导入旧名称的代码会失败", Severity.MEDIUM, "在插件和分支中改用新名称：{names}"
        ),
        FactKind.MOVED_NAME: FactWords(
            "移动公开名称 {names}",
            "从旧模块导入这些名称的插件和分支会失败",
            Severity.MEDIUM,
            "在插件和分支中改从新模块导入：{names}",
        ),
        FactKind.MOVED_MODULE: FactWords(
            "移动模块 {names}", "按旧路径导入的插件和分支会失败", Severity.MEDIUM, "更新插件和分支中的导入路径：{names}"
        ),
        FactKind.REMOVED_PARAMETER: FactWords(
            "移除参数 {names}", "仍传入这些参数的调用会失败", Severity.MEDIUM, "在插件和分支中修改对 {names} 的调用"
        ),
        FactKind.RENAMED_PARAMETER: FactWords(
            "重命名参数 {names}", "按旧名传参的调用会失败", Severity.MEDIUM, "在插件和分支中改用新参数名：{names}"
        ),
        FactKind.REQUIRED_PARAMETER: FactWords(
            "新增必填参数 {names}", "没有传入这些参数的调用会失败", Severity.MEDIUM, "在插件和分支的调用中补上 {names}"
        ),
        FactKind.REQUIRED_METHOD: FactWords(
            "新增抽象方法 {names}", "没有实现它的子类无法实例化", Severity.MEDIUM, "在插件和分支的子类中实现 {names}"
        ),
        FactKind.RETYPED: FactWords(
            "更改类型 {names}", "依赖旧类型的代码可能出错", Severity.LOW, "核对插件和分支中用到 {names} 的地方"
        ),
        FactKind.DEFAULT_CHANGED: FactWords(
            "修改默认值 {names}", "未显式设置的部署行为会改变", Severity.MEDIUM, "需要旧行为时显式设置 {names}"
        ),
        FactKind.DEPENDENCY_MOVED: FactWords(
            "变更依赖版本 {names}", "与固定其他版本的环境冲突", Severity.LOW, "重建镜像并核对已固定的版本：{names}"
        ),
        FactKind.DEPENDENCY_ADDED: FactWords("新增依赖 {names}"),
        FactKind.DEPENDENCY_REMOVED: FactWords("移除依赖 {names}"),
        FactKind.FILE_DELETED: FactWords("删除源文件 {names}"),
        FactKind.TEST_REMOVED: FactWords("移除或跳过测试 {names}", "相应行为不再受测试保护", Severity.LOW),
        FactKind.CONCURRENCY: FactWords(
            "改动并发相关代码 {names}", "并发时序可能改变", Severity.MEDIUM, "在高并发下做一次回归测试"
        ),
        FactKind.MEMORY: FactWords(
            "改动内存的分配与归属 {names}",
            "可能影响内存占用或出现重复释放",
            Severity.MEDIUM,
            "升级后观察显存与内存占用",
        ),
        FactKind.SECURITY: FactWords(
            "与安全有关：{names}", "旧版本可能受影响", Severity.MEDIUM, "对外提供服务的部署应优先评估升级"
        ),
        FactKind.REVERT: FactWords(
            "回退提交 {names}",
            "依赖被回退改动的代码会失去它",
            Severity.MEDIUM,
            "若已采用被回退的改动，请确认不再依赖它",
        ),
        FactKind.LAYOUT: FactWords("只改动排版、注释或导入顺序 {names}"),
    },
    "en": {
        FactKind.REMOVED_ENV: FactWords(
            "Removes environment variable {names}",
            "deployments that still set it are ignored without a word, or fail",
            Severity.HIGH,
            "Before upgrading, search launch scripts, images and manifests for {names}, and remove or replace it",
        ),
        FactKind.RENAMED_ENV: FactWords(
            "Renames environment variable {names}",
            "the old name has no effect any more",
            Severity.HIGH,
            "Set the new name in deployments: {names}",
        ),
        FactKind.REMOVED_FLAG: FactWords(
            "Removes command-line flag {names}",
            "commands that still pass it fail at start",
            Severity.HIGH,
            "Before upgrading, take {names} out of launch commands",
        ),
        FactKind.RENAMED_FLAG: FactWords(
            "Renames command-line flag {names}",
            "commands with the old name fail at start",
            Severity.HIGH,
            "Pass the new flag: {names}",
        ),
        FactKind.REMOVED_KEY: FactWords(
            "Removes configuration key {names}",
            "configurations that still set it are refused, or ignored without a word",
            Severity.HIGH,
            "Before upgrading, take {names} out of configurations",
        ),
        FactKind.RENAMED_KEY: FactWords(
            "Renames configuration key {names}",
            "the old key has no effect any more",
            Severity.HIGH,
            "Set the new key in configurations: {names}",
        ),
        FactKind.REMOVED_ROUTE: FactWords(
            "Removes HTTP route {names}",
            "clients that still call it get a 404",
            Severity.HIGH,
            "Search clients and gateways for {names}",
        ),
        FactKind.RENAMED_ROUTE: FactWords(
            "Changes HTTP route {names}",
            "clients that call the old route get a 404",
            Severity.HIGH,
            "Use the new route in clients and gateways: {names}",
        ),
        FactKind.REMOVED_FIELD: FactWords(
            "Removes API field {names}",
            "clients that read or send it fail",
            Severity.HIGH,
            "Search clients for {names}",
        ),
        FactKind.RENAMED_FIELD: FactWords(
            "Renames API field {names}",
            "clients that read or send the old field fail",
            Severity.HIGH,
            "Use the new field in clients: {names}",
        ),
        FactKind.SUPPORT_DROPPED: FactWords(
            "Drops {names}",
            "deployments that use it fail",
            Severity.HIGH,
            "Before upgrading, make sure that nothing uses {names}",
        ),
        FactKind.MINIMUM_RAISED: FactWords(
            "Raises the least version {names}",
            "environments below it can neither install nor build",
            Severity.HIGH,
            "Upgrade environments first: {names}",
        ),
        FactKind.REMOVED_NAME: FactWords(
            "Removes public name {names}",
            "plug-ins and forks that import it fail at import",
            Severity.MEDIUM,
            "Search plug-ins and forks for {names}",
        ),
        FactKind.RENAMED_NAME: FactWords(
            "Renames public name {names}",
            "code that imports the old name fails",
            Severity.MEDIUM,
            "Use the new name in plug-ins and forks: {names}",
        ),
        FactKind.MOVED_NAME: FactWords(
            "Moves public name {names}",
            "plug-ins and forks that import it from the old module fail",
            Severity.MEDIUM,
            "Import it from the new module in plug-ins and forks: {names}",
        ),
        FactKind.MOVED_MODULE: FactWords(
            "Moves module {names}",
            "plug-ins and forks that import it by the old path fail",
            Severity.MEDIUM,
            "Update imports in plug-ins and forks: {names}",
        ),
        FactKind.REMOVED_PARAMETER: FactWords(
            "Removes parameter {names}",
            "calls that still pass it fail",
            Severity.MEDIUM,
            "Change calls in plug-ins and forks: {names}",
        ),
        FactKind.RENAMED_PARAMETER: FactWords(
            "Renames parameter {names}",
            "calls that pass it by the old name fail",
            Severity.MEDIUM,
            "Use the new name in calls of plug-ins and forks: {names}",
        ),
        FactKind.REQUIRED_PARAMETER: FactWords(
            "Requires parameter {names}",
            "calls that do not pass it fail",
            Severity.MEDIUM,
            "Pass it in calls of plug-ins and forks: {names}",
        ),
        FactKind.REQUIRED_METHOD: FactWords(
            "Requires method {names}",
            "subclasses that lack it cannot be instantiated",
            Severity.MEDIUM,
            "Implement it in subclasses of plug-ins and forks: {names}",
        ),
        FactKind.RETYPED: FactWords(
            "Changes type {names}",
            "code that relies on the old type may fail",
            Severity.LOW,
            "Check what plug-ins and forks do with {names}",
        ),
        FactKind.DEFAULT_CHANGED: FactWords(
            "Changes default {names}",
            "deployments that do not set it behave differently",
            Severity.MEDIUM,
            "Set {names} explicitly where the old behaviour is wanted",
        ),
        FactKind.DEPENDENCY_MOVED: FactWords(
            "Moves dependency {names}",
            "clashes with environments that pin another version",
            Severity.LOW,
            "Rebuild images and check pinned versions: {names}",
        ),
        FactKind.DEPENDENCY_ADDED: FactWords("Adds dependency {names}"),
        FactKind.DEPENDENCY_REMOVED: FactWords("Removes dependency {names}"),
        FactKind.FILE_DELETED: FactWords("Deletes source file {names}"),
        FactKind.TEST_REMOVED: FactWords(
            "Removes or skips test {names}", "what it tested is no longer guarded", Severity.LOW
        ),
        FactKind.CONCURRENCY: FactWords(
            "Touches concurrency: {names}",
            "timing under load may change",
            Severity.MEDIUM,
            "Run a load test before rolling out",
        ),
        FactKind.MEMORY: FactWords(
            "Touches memory ownership: {names}",
            "memory use may change, or memory be freed twice",
            Severity.MEDIUM,
            "Watch memory after the upgrade",
        ),
        FactKind.SECURITY: FactWords(
            "Security-relevant: {names}",
            "earlier versions may be affected",
            Severity.MEDIUM,
            "Deployments that face others should look at this upgrade first",
        ),
        FactKind.REVERT: FactWords(
            "Reverts {names}",
            "code that relies on the reverted change loses it",
            Severity.MEDIUM,
            "If you took up the reverted change, check that nothing relies on it",
        ),
        FactKind.LAYOUT: FactWords("Changes nothing but layout, remarks or the order of imports: {names}"),
    },
}
