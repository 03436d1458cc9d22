"""Sentences about facts in Chinese and English: the change, its consequence, and the advice."""

from typing import NamedTuple

from analysis.models import FactKind, Language, Severity


class FactWords(NamedTuple):
    """How a kind of fact is told: `says` takes {names}, `risk` stands alone, and `advice` is a sentence that takes {names} or {how}.

    There is no risk and no advice where they are empty.
    """

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
            "升级前请从启动脚本、镜像和编排配置中移除 {names}。",
        ),
        FactKind.RENAMED_ENV: FactWords(
            "重命名环境变量 {names}", "旧变量名不再生效", Severity.HIGH, "请在部署配置中改用新变量名：{names}。"
        ),
        FactKind.REMOVED_FLAG: FactWords(
            "移除命令行参数 {names}", "仍带这些参数的启动命令会失败", Severity.HIGH, "请从启动命令中移除 {names}。"
        ),
        FactKind.RENAMED_FLAG: FactWords(
            "重命名命令行参数 {names}", "旧参数名会使启动失败", Severity.HIGH, "请在启动命令中改用新参数：{names}。"
        ),
        FactKind.REMOVED_KEY: FactWords(
            "移除配置项 {names}", "仍在设置这些配置项的部署会报错或被忽略", Severity.HIGH, "请从配置中移除 {names}。"
        ),
        FactKind.RENAMED_KEY: FactWords(
            "重命名配置项 {names}", "旧配置项不再生效", Severity.HIGH, "请在配置中改用新配置项：{names}。"
        ),
        FactKind.REMOVED_ROUTE: FactWords(
            "移除 HTTP 路由 {names}",
            "仍在请求这些路由的客户端会得到 404",
            Severity.HIGH,
            "请检查客户端和网关是否仍在请求 {names}。",
        ),
        FactKind.RENAMED_ROUTE: FactWords(
            "更改 HTTP 路由 {names}",
            "请求旧路由的客户端会得到 404",
            Severity.HIGH,
            "请让客户端和网关改用新路由：{names}。",
        ),
        FactKind.REMOVED_FIELD: FactWords(
            "移除接口字段 {names}", "读写这些字段的客户端会失败", Severity.HIGH, "请检查客户端是否仍在使用 {names}。"
        ),
        FactKind.RENAMED_FIELD: FactWords(
            "重命名接口字段 {names}", "读写旧字段的客户端会失败", Severity.HIGH, "请让客户端改用新字段：{names}。"
        ),
        FactKind.SUPPORT_DROPPED: FactWords(
            "不再提供 {names}", "仍在使用它们的部署会失败", Severity.HIGH, "升级前请确认没有部署在使用 {names}。"
        ),
        FactKind.MINIMUM_RAISED: FactWords(
            "提高最低版本要求 {names}", "低于此版本的环境无法安装或构建", Severity.HIGH, "请先升级环境：{names}。"
        ),
        FactKind.REMOVED_NAME: FactWords(
            "移除公开名称 {names}",
            "导入这些名称的插件和分支会在导入时失败",
            Severity.MEDIUM,
            "请检查插件和分支是否仍在使用 {names}。",
        ),
        FactKind.RENAMED_NAME: FactWords(
            "重命名公开名称 {names}", "导入旧名称的代码会失败", Severity.MEDIUM, "请在插件和分支中改用新名称：{names}。"
        ),
        FactKind.MOVED_NAME: FactWords(
            "移动公开名称 {names}",
            "从旧模块导入这些名称的插件和分支会失败",
            Severity.MEDIUM,
            "请在插件和分支中改从新模块导入：{names}。",
        ),
        FactKind.MOVED_MODULE: FactWords(
            "移动模块 {names}",
            "按旧路径导入的插件和分支会失败",
            Severity.MEDIUM,
            "请更新插件和分支中的导入路径：{names}。",
        ),
        FactKind.REMOVED_PARAMETER: FactWords(
            "移除参数 {names}", "仍传入这些参数的调用会失败", Severity.MEDIUM, "请修改插件和分支中的相应调用：{names}。"
        ),
        FactKind.RENAMED_PARAMETER: FactWords(
            "重命名参数 {names}", "按旧名传参的调用会失败", Severity.MEDIUM, "请在插件和分支中改用新参数名：{names}。"
        ),
        FactKind.REQUIRED_PARAMETER: FactWords(
            "新增必填参数 {names}",
            "没有传入这些参数的调用会失败",
            Severity.MEDIUM,
            "请在插件和分支的调用中补上：{names}。",
        ),
        FactKind.REQUIRED_METHOD: FactWords(
            "新增抽象方法 {names}",
            "没有实现它的子类无法实例化",
            Severity.MEDIUM,
            "请在插件和分支的子类中实现 {names}。",
        ),
        FactKind.RETYPED: FactWords(
            "更改类型 {names}", "依赖旧类型的代码可能出错", Severity.LOW, "请检查插件和分支中的相关用法：{names}。"
        ),
        FactKind.DEFAULT_CHANGED: FactWords(
            "修改默认值 {names}", "未显式设置的部署行为会改变", Severity.MEDIUM, "如需旧行为，请{how}。"
        ),
        FactKind.DEPENDENCY_MOVED: FactWords(
            "变更依赖版本 {names}", "与固定其他版本的环境冲突", Severity.LOW, "请重建镜像并核对已固定的版本：{names}。"
        ),
        FactKind.DEPENDENCY_ADDED: FactWords("新增依赖 {names}"),
        FactKind.DEPENDENCY_REMOVED: FactWords("移除依赖 {names}"),
        FactKind.FILE_DELETED: FactWords("删除源文件 {names}"),
        FactKind.TEST_REMOVED: FactWords("移除或跳过测试 {names}", "相应行为不再受测试保护", Severity.LOW),
        FactKind.CONCURRENCY: FactWords(
            "改动并发相关代码 {names}", "并发时序可能改变", Severity.MEDIUM, "上线前请做一次高并发回归测试。"
        ),
        FactKind.MEMORY: FactWords(
            "改动内存的分配与归属 {names}",
            "可能影响内存占用或出现重复释放",
            Severity.MEDIUM,
            "升级后请观察显存与内存占用。",
        ),
        FactKind.SECURITY: FactWords(
            "与安全有关：{names}", "旧版本可能受影响", Severity.MEDIUM, "对外提供服务的部署请优先评估升级。"
        ),
        FactKind.REVERT: FactWords(
            "回退提交 {names}",
            "依赖被回退改动的代码会失去它",
            Severity.MEDIUM,
            "若已采用被回退的改动，请确认没有代码依赖它。",
        ),
        FactKind.LAYOUT: FactWords("只改动排版、注释或导入顺序 {names}"),
    },
    "en": {
        FactKind.REMOVED_ENV: FactWords(
            "Removes environment variable {names}",
            "where it is still set, it is silently ignored, or startup fails",
            Severity.HIGH,
            "Before you upgrade, remove {names} from your launch scripts, images and manifests.",
        ),
        FactKind.RENAMED_ENV: FactWords(
            "Renames environment variable {names}",
            "the old name has no effect any more",
            Severity.HIGH,
            "Use the new name in your deployments: {names}.",
        ),
        FactKind.REMOVED_FLAG: FactWords(
            "Removes command-line flag {names}",
            "commands that still pass it fail at start",
            Severity.HIGH,
            "Remove {names} from your launch commands.",
        ),
        FactKind.RENAMED_FLAG: FactWords(
            "Renames command-line flag {names}",
            "commands with the old name fail at start",
            Severity.HIGH,
            "Use the new flag in your launch commands: {names}.",
        ),
        FactKind.REMOVED_KEY: FactWords(
            "Removes configuration key {names}",
            "where it is still set, it is refused or silently ignored",
            Severity.HIGH,
            "Remove {names} from your configuration.",
        ),
        FactKind.RENAMED_KEY: FactWords(
            "Renames configuration key {names}",
            "the old key has no effect any more",
            Severity.HIGH,
            "Use the new key in your configuration: {names}.",
        ),
        FactKind.REMOVED_ROUTE: FactWords(
            "Removes HTTP route {names}",
            "clients that still call it get a 404",
            Severity.HIGH,
            "Check your clients and gateways for calls to {names}.",
        ),
        FactKind.RENAMED_ROUTE: FactWords(
            "Changes HTTP route {names}",
            "clients that call the old route get a 404",
            Severity.HIGH,
            "Switch your clients and gateways to the new route: {names}.",
        ),
        FactKind.REMOVED_FIELD: FactWords(
            "Removes API field {names}",
            "clients that read or send it fail",
            Severity.HIGH,
            "Check your clients for uses of {names}.",
        ),
        FactKind.RENAMED_FIELD: FactWords(
            "Renames API field {names}",
            "clients that read or send the old field fail",
            Severity.HIGH,
            "Use the new field in your clients: {names}.",
        ),
        FactKind.SUPPORT_DROPPED: FactWords(
            "Drops {names}",
            "deployments that use it fail",
            Severity.HIGH,
            "Before you upgrade, check that none of your deployments uses {names}.",
        ),
        FactKind.MINIMUM_RAISED: FactWords(
            "Raises the least version {names}",
            "environments below it can neither install nor build",
            Severity.HIGH,
            "Upgrade your environments first: {names}.",
        ),
        FactKind.REMOVED_NAME: FactWords(
            "Removes public name {names}",
            "plug-ins and forks that import it fail at import",
            Severity.MEDIUM,
            "Check your plug-ins and forks for uses of {names}.",
        ),
        FactKind.RENAMED_NAME: FactWords(
            "Renames public name {names}",
            "code that imports the old name fails",
            Severity.MEDIUM,
            "Use the new name in your plug-ins and forks: {names}.",
        ),
        FactKind.MOVED_NAME: FactWords(
            "Moves public name {names}",
            "plug-ins and forks that import it from the old module fail",
            Severity.MEDIUM,
            "Import from the new module in your plug-ins and forks: {names}.",
        ),
        FactKind.MOVED_MODULE: FactWords(
            "Moves module {names}",
            "plug-ins and forks that import it by the old path fail",
            Severity.MEDIUM,
            "Update the imports in your plug-ins and forks: {names}.",
        ),
        FactKind.REMOVED_PARAMETER: FactWords(
            "Removes parameter {names}",
            "calls that still pass it fail",
            Severity.MEDIUM,
            "Update the calls in your plug-ins and forks: {names}.",
        ),
        FactKind.RENAMED_PARAMETER: FactWords(
            "Renames parameter {names}",
            "calls that pass it by the old name fail",
            Severity.MEDIUM,
            "Use the new parameter name in your plug-ins and forks: {names}.",
        ),
        FactKind.REQUIRED_PARAMETER: FactWords(
            "Requires parameter {names}",
            "calls that do not pass it fail",
            Severity.MEDIUM,
            "Add the argument to the calls in your plug-ins and forks: {names}.",
        ),
        FactKind.REQUIRED_METHOD: FactWords(
            "Requires method {names}",
            "subclasses that lack it cannot be instantiated",
            Severity.MEDIUM,
            "Implement {names} in your subclasses.",
        ),
        FactKind.RETYPED: FactWords(
            "Changes type {names}",
            "code that relies on the old type may fail",
            Severity.LOW,
            "Check the uses in your plug-ins and forks: {names}.",
        ),
        FactKind.DEFAULT_CHANGED: FactWords(
            "Changes default {names}",
            "deployments that do not set it behave differently",
            Severity.MEDIUM,
            "To keep the old behaviour, {how}.",
        ),
        FactKind.DEPENDENCY_MOVED: FactWords(
            "Moves dependency {names}",
            "clashes with environments that pin another version",
            Severity.LOW,
            "Rebuild your images and check the versions that you pin: {names}.",
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
            "Run a load test before you roll it out.",
        ),
        FactKind.MEMORY: FactWords(
            "Touches memory ownership: {names}",
            "memory use may change, or memory be freed twice",
            Severity.MEDIUM,
            "Watch memory use after the upgrade.",
        ),
        FactKind.SECURITY: FactWords(
            "Security-relevant: {names}",
            "earlier versions may be affected",
            Severity.MEDIUM,
            "Upgrade deployments that untrusted clients can reach first.",
        ),
        FactKind.REVERT: FactWords(
            "Reverts {names}",
            "code that relies on the reverted change loses it",
            Severity.MEDIUM,
            "If you already use the reverted change, check that nothing depends on it.",
        ),
        FactKind.LAYOUT: FactWords("Changes nothing but layout, remarks or the order of imports: {names}"),
    },
}
